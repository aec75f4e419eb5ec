import { loadavg } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { present } from '../../../src/lib/assert.ts'
import { makeFolder, startProgram } from '../../support/program.ts'
import { loadVectors, type Vector } from '../../support/vectors.ts'
import { untilCommitted } from '../../support/wallet.ts'
import { processorNs } from '../cluster/processor.ts'
import { type CostDocument, documentsFor } from '../cost/documents.ts'
import { makeGraphLedger } from '../graph/ledger.ts'
import { questionsOf } from '../graph/questions.ts'
import { median, printTable } from '../measure.ts'
import { openLine } from '../rest/load.ts'

/** Measures the processor time per unit of cost for very different documents. */

const help = `npm run bench -- cost [--transactions N] [--rounds N] [--ms N]

Creates a ledger with every kind of output and sends fifty documents to the built gateway (npm run build), one after the other.
Prints the cost of each from extensions.cost.spent, and the processor time per unit of cost. The greatest and the least time per
unit should be within a factor of four.

--transactions  the transactions of the ledger, 12000 by default
--rounds        the rounds of which the median is printed, 3 by default
--ms            the processor time of each document per round, 100 by default`

/** A gateway, and its processor time in milliseconds. */
interface Server {
  readonly port: number
  spent(): number
}

interface Measured {
  readonly name: string
  readonly estimated: number
  readonly spent: number
  /** The processor time per request, in microseconds. */
  readonly us: number
}

/** Prints the table. */
export async function run(words: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...words],
    options: {
      help: { type: 'boolean', default: false },
      transactions: { type: 'string', default: '12000' },
      rounds: { type: 'string', default: '3' },
      ms: { type: 'string', default: '100' },
    },
  })
  if (values.help) return console.log(help)
  const folder = makeFolder()
  try {
    const keyFile = `${folder.databaseFile}.key`
    const ledger = await makeGraphLedger(folder.databaseUrl, keyFile, Number(values.transactions))
    const documents = documentsFor(await questionsOf(ledger), wrongBlock())
    const program = await startProgram(ledger.env)
    const pid = present(program.process.pid, 'its number')
    const port = Number(new URL(program.url).port)
    const server = { port, spent: () => processorNs(pid) / 1e6 }
    try {
      await untilCommitted(program.url, ledger.lastSlot + 1)
      const measured = await measure(server, documents, {
        rounds: Number(values.rounds),
        ms: Number(values.ms),
      })
      print(measured)
    } finally {
      await program.end('SIGTERM')
    }
  } finally {
    folder.remove()
  }
}

async function measure(
  server: Server,
  documents: readonly CostDocument[],
  { rounds, ms }: { readonly rounds: number; readonly ms: number },
): Promise<readonly Measured[]> {
  const idle = await idleShare(server)
  const times = new Map<CostDocument, number[]>(documents.map((one) => [one, []]))
  // The first round warms up.
  for (let round = 0; round <= rounds; round++) {
    for (const document of documents) {
      const us = await microseconds(server, document, { ms, idle })
      if (round > 0) times.get(document)?.push(us)
    }
  }
  const measured: Measured[] = []
  for (const [document, all] of times) {
    measured.push({ name: document.name, ...(await costOf(server, document)), us: median(all) })
  }
  return measured
}

/** The share of a processor that the gateway uses without requests, for votes and slot commits. */
async function idleShare(server: Server): Promise<number> {
  const spent = server.spent()
  await delay(idleMs)
  return (server.spent() - spent) / idleMs
}

const idleMs = 5_000

/** Sends requests until the gateway has used `ms` of processor time, and returns the microseconds per request. */
async function microseconds(
  { port, spent }: Server,
  { text, variables }: CostDocument,
  { ms, idle }: { readonly ms: number; readonly idle: number },
): Promise<number> {
  const line = await openLine(port)
  const before = spent()
  const begun = performance.now()
  let count = 0
  while (count < fewest || spent() - before < ms) {
    // An unused variable makes the text of each request different, because the gateway caches responses by text.
    const body = JSON.stringify({ query: text, variables: { ...variables, other: `${count++}` } })
    const { status } = await line.post('/graphql', body)
    if (status !== 200) throw new Error(`the gateway responded with ${status}`)
  }
  line.end()
  const worked = spent() - before - (performance.now() - begun) * idle
  return (worked * 1_000) / count
}

const fewest = 3

async function costOf(
  server: Server,
  { name, text, variables }: CostDocument,
): Promise<Pick<Measured, 'estimated' | 'spent'>> {
  const line = await openLine(server.port)
  const request = { query: text, variables, extensions: { cost: true } }
  const { body } = await line.post('/graphql', JSON.stringify(request))
  line.end()
  const { errors, extensions } = JSON.parse(body.toString())
  if (errors !== undefined) throw new Error(`${name}: ${JSON.stringify(errors).slice(0, 300)}`)
  return extensions.cost
}

function print(measured: readonly Measured[]): void {
  const perUnit = ({ us, spent }: Measured) => us / spent
  const sorted = measured.toSorted((a, b) => perUnit(a) - perUnit(b))
  printTable([
    ['document', 'estimated', 'spent', 'µs', 'µs per unit'],
    ...sorted.map((one) => [
      one.name,
      String(one.estimated),
      String(one.spent),
      one.us.toFixed(0),
      perUnit(one).toFixed(2),
    ]),
  ])
  const all = sorted.map(perUnit)
  const [least, most] = [present(all[0], 'a minimum'), present(all.at(-1), 'a maximum')]
  const load = loadavg()[0]?.toFixed(1)
  console.log(
    `\n${measured.length} documents, load average ${load}: µs per unit: minimum ${least.toFixed(2)}, median ${median(all).toFixed(2)}, maximum ${most.toFixed(2)}, a factor of ${(most / least).toFixed(1)}`,
  )
}

/** A block whose own signature and whose transaction's signature are both wrong. */
function wrongBlock(): string {
  const vectors = loadVectors<Vector & { readonly bytes: string }>('transactions')
  const named = vectors.find(({ name }) => name === 'block/transaction/minimal')
  const { bytes } = present(named, 'a block with a transaction of one input')
  const behind = bytes.slice(-2 * (8 + 1 + 32 + 64), -128)
  const wrong = '00'.repeat(64)
  return `${bytes.slice(0, -behind.length - 2 * 128)}${wrong}${behind}${wrong}`
}

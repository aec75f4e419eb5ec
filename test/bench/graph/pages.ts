import { readdirSync, readFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { buildClientSchema, type GraphQLSchema, getIntrospectionQuery } from 'graphql'
import { present } from '../../../src/lib/assert.ts'
import { startProgram } from '../../support/program.ts'
import { untilCommitted } from '../../support/wallet.ts'
import { loadBy, type Measured } from '../graphql/load.ts'
import { type Server, serverOf, startPeer } from '../graphql/servers.ts'
import { median, printTable } from '../measure.ts'
import { openLine } from '../rest/load.ts'
import { commonPart } from './common-part.ts'
import { ask, bodyOf, compareAnswers, type Question } from './compare.ts'
import type { GraphLedger } from './ledger.ts'
import { questionsOf } from './questions.ts'

/** Measures the pages of an explorer on a ledger: the gateway and the explorer of Prisma in turns. */

/** How long to measure what. */
export interface Options {
  readonly rounds: number
  /** Of a turn. */
  readonly ms: number
  /** One document alone. */
  readonly only: string | undefined
}

const examples = new URL('../../../docs/examples/explorer/', import.meta.url)

/** Prints the table of a ledger. */
export async function measurePages(ledger: GraphLedger, options: Options): Promise<void> {
  const variables = await questionsOf(ledger)
  const gateway = serverOf(await startProgram(ledger.env))
  const plain = await startPeer('explorer.ts', ledger)
  try {
    await untilCommitted(`http://127.0.0.1:${gateway.port}`, ledger.lastSlot + 1)
    const schema = await schemaOf(plain)
    const table = [head]
    for (const file of readdirSync(examples)) {
      const name = file.replace('.graphql', '')
      if (options.only !== undefined && options.only !== name) continue
      const whole = readFileSync(new URL(file, examples), 'utf8')
      const part = commonPart(whole, schema)
      const question = { name, text: part.text, variables: present(variables.get(name), name) }
      plain.goOn()
      await compareAnswers([gateway, plain], question)
      const measured = await inTurns([gateway, plain], question, whole, options)
      table.push(rowOf(name, `${part.fields} of ${part.ofFields}`, measured))
    }
    console.log(`load average ${loadavg()[0]?.toFixed(1)}\n`)
    printTable(table)
    console.log()
  } finally {
    await gateway.end()
    await plain.end()
  }
}

async function schemaOf(server: Server): Promise<GraphQLSchema> {
  const line = await openLine(server.port)
  const body = await ask(line, bodyOf(getIntrospectionQuery(), {}))
  line.end()
  return buildClientSchema(JSON.parse(body.toString()).data)
}

const connections = 16

/** What was measured in each round. */
interface Rounds {
  readonly ours: Measured[]
  readonly theirs: Measured[]
  /** The whole document, of the gateway alone. */
  readonly whole: Measured[]
}

async function inTurns(
  [gateway, plain]: readonly [Server, Server],
  { text, variables }: Question,
  whole: string,
  { rounds, ms }: Options,
): Promise<Rounds> {
  const measured: Rounds = { ours: [], theirs: [], whole: [] }
  const asked = (document: string) => {
    const bodies = variables.map((one) => bodyOf(document, one))
    let n = 0
    return (server: Server) =>
      loadBy(server, (line) => ask(line, present(bodies[n++ % bodies.length], 'a question')), {
        connections,
        ms,
      })
  }
  const common = asked(text)
  const all = asked(whole)
  // The first round warms up.
  for (let round = 0; round <= rounds; round++) {
    plain.hold()
    const [ours, wholeOurs] = [await common(gateway), await all(gateway)]
    plain.goOn()
    const theirs = await common(plain)
    if (round === 0) continue
    measured.ours.push(ours)
    measured.theirs.push(theirs)
    measured.whole.push(wholeOurs)
  }
  return measured
}

const head = [
  'document',
  'fields',
  'ours µs (a second)',
  'Pothos µs (a second)',
  'ratio',
  'p50 ms',
  'p99 ms',
  'p99 to p50',
  'whole µs',
]

function rowOf(name: string, fields: string, { ours, theirs, whole }: Rounds): string[] {
  const cpu = (rounds: readonly Measured[]) => median(rounds.map(({ cpuUs }) => cpuUs))
  const cell = (rounds: readonly Measured[]) =>
    `${cpu(rounds).toFixed(0)} (${median(rounds.map(({ perSecond }) => perSecond)).toFixed(0)})`
  const ratios = theirs.map(({ cpuUs }, i) => cpuUs / (ours[i]?.cpuUs ?? Number.NaN))
  const times = ours.flatMap((round) => round.times).sort((a, b) => a - b)
  const [p50, p99] = [0.5, 0.99].map((part) => times[Math.floor(times.length * part)] ?? Number.NaN)
  return [
    name,
    fields,
    cell(ours),
    cell(theirs),
    median(ratios).toFixed(2),
    p50?.toFixed(1) ?? '',
    p99?.toFixed(1) ?? '',
    ((p99 ?? 0) / (p50 ?? 1)).toFixed(1),
    cpu(whole).toFixed(0),
  ]
}

import { loadavg } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { buildClientSchema, type GraphQLSchema, getIntrospectionQuery } from 'graphql'
import { present } from '../../../src/lib/assert.ts'
import { textOf } from '../../support/explorer-pages.ts'
import { type Program, startProgram } from '../../support/program.ts'
import { untilCommitted } from '../../support/wallet.ts'
import { loadBy, type Measured } from '../graphql/load.ts'
import { type Server, serverOf, startPeer } from '../graphql/servers.ts'
import { median, printRow, printTable } from '../measure.ts'
import { type Line, openLine } from '../rest/load.ts'
import { commonPart } from './common-part.ts'
import { ask, bodyOf, compareResponses, inOtherWords, type Question } from './compare.ts'
import type { GraphLedger } from './ledger.ts'
import { questionsOf } from './questions.ts'
import { counting, statementsOf } from './statements.ts'

/** Measures the pages of an explorer on a ledger: the gateway and an explorer built with Prisma, in alternation. */

/** The scope and the duration of the measurement. */
export interface Options {
  readonly rounds: number
  /** The duration of one server's turn in a round. */
  readonly ms: number
  /** The name of the only measured document; all are measured by default. */
  readonly only: string | undefined
}

/** A page of an explorer: its document, and the part of the document that both servers support. */
interface Page extends Question {
  readonly whole: string
  readonly fields: string
}

/** Prints the table of a ledger. */
export async function measurePages(ledger: GraphLedger, options: Options): Promise<void> {
  const pages = await pagesOf(ledger, options)
  const statements = await countAll(ledger, pages)
  const gateway = serverOf(await startCommitted(ledger))
  const plain = await startPeer('explorer.ts', ledger)
  const busy = await startPeer('busy.ts', ledger)
  try {
    plain.pause()
    const idle = await idleMsPerSecond(gateway)
    const load = loadavg()[0]?.toFixed(1)
    console.log(
      `load average ${load}; the gateway uses ${idle.toFixed(0)} ms of processor time per second for its slots\n`,
    )
    printTable([head])
    for (const page of pages) {
      plain.resume()
      await compareResponses([gateway, plain], page)
      const measured = await inTurns({ gateway, plain, busy }, page, options)
      // Prints each row at once, so that a run of an hour that fails at one page has printed those before it.
      printRow([...rowOf(page, measured, idle), present(statements.get(page), page.name)])
    }
    console.log()
  } finally {
    await gateway.end()
    await plain.end()
    await busy.end()
  }
}

/** The processor time per second that the gateway uses without requests, for votes and slot commits. */
async function idleMsPerSecond(gateway: Server): Promise<number> {
  const spent = gateway.spent()
  await delay(idleSeconds * 1_000)
  return (gateway.spent() - spent) / idleSeconds
}

const idleSeconds = 6

/** Starts the gateway, and waits until it has committed the slots of the time that the creation of the ledger took. */
async function startCommitted({ env, lastSlot }: GraphLedger, settings = {}): Promise<Program> {
  const gateway = await startProgram({ ...env, ...settings })
  await untilCommitted(gateway.url, lastSlot + 1)
  return gateway
}

async function pagesOf(ledger: GraphLedger, { only }: Options): Promise<readonly Page[]> {
  const variables = await questionsOf(ledger)
  const plain = await startPeer('explorer.ts', ledger)
  const schema = await schemaOf(plain)
  await plain.end()
  return [...variables]
    .filter(([name]) => only === undefined || only === name)
    .map(([name, ofPage]) => {
      const whole = textOf(name)
      const { text, fields, ofFields } = commonPart(whole, schema)
      return { name, text, whole, variables: ofPage, fields: `${fields} of ${ofFields}` }
    })
}

/** The number of statements of each page, of the gateway and of the other server. */
async function countAll(
  ledger: GraphLedger,
  pages: readonly Page[],
): Promise<ReadonlyMap<Page, string>> {
  const gateway = await startCommitted(ledger, counting)
  const plain = await startPeer('explorer.ts', ledger, counting)
  const port = Number(new URL(gateway.url).port)
  const counts = new Map<Page, string>()
  try {
    for (const page of pages) {
      const ofGateway = await statementsOf({ ...gateway, port }, page)
      counts.set(page, `${ofGateway}, ${await statementsOf(plain, page)}`)
    }
  } finally {
    await gateway.end('SIGTERM')
    await plain.end()
  }
  return counts
}

async function schemaOf(server: Server): Promise<GraphQLSchema> {
  const line = await openLine(server.port)
  const body = await ask(line, bodyOf(getIntrospectionQuery(), {}))
  line.end()
  return buildClientSchema(JSON.parse(body.toString()).data)
}

const connections = 16
const leadMs = 300

/** The measurements of all rounds. */
interface Rounds {
  /** The gateway with the common part of the document. */
  readonly common: Measured[]
  readonly pothos: Measured[]
  /** The gateway with the whole document. */
  readonly whole: Measured[]
  /** The gateway with the common part as the same text in each request, so that it returns cached responses. */
  readonly again: Measured[]
  /** A bare handler with the processor time and the connections of the gateway. Its p99 is what this machine allows any server. */
  readonly control: Measured[]
}

async function inTurns(
  { gateway, plain, busy }: Readonly<Record<'gateway' | 'plain' | 'busy', Server>>,
  { text, variables, whole }: Page,
  { rounds, ms }: Options,
): Promise<Rounds> {
  const measured: Rounds = { common: [], pothos: [], whole: [], again: [], control: [] }
  let requests = 0
  /** The gateway caches responses by the text of the request; `isNew` makes each text different. */
  const by = (document: string, isNew: boolean) => {
    const bodies = variables.map((one) => bodyOf(document, one))
    return (server: Server) => {
      const askNext = (line: Line) => {
        const body = present(bodies[requests++ % bodies.length], 'a body')
        return ask(line, isNew ? inOtherWords(body, requests) : body)
      }
      return loadBy(server, askNext, { connections, ms, leadMs })
    }
  }
  const loadCommon = by(text, true)
  const loadWhole = by(whole, true)
  const loadSame = by(text, false)
  /** Measures the gateway while the other server is paused. */
  const onGateway = async (load: typeof loadCommon) => {
    plain.pause()
    const one = await load(gateway)
    plain.resume()
    return one
  }
  const bareUs = (await loadBusy(busy, 0, ms)).cpuUs
  // The first round warms up. The two compared servers follow each other in alternating order, because the speed of a machine varies.
  for (let round = 0; round <= rounds; round++) {
    const former = round % 2 === 0 ? undefined : await loadCommon(plain)
    const common = await onGateway(loadCommon)
    const pothos = former ?? (await loadCommon(plain))
    const [wholeGateway, again] = [await onGateway(loadWhole), await onGateway(loadSame)]
    plain.pause()
    const control = await loadBusy(busy, Math.max(common.cpuUs - bareUs, 0), ms)
    plain.resume()
    if (round === 0) continue
    measured.control.push(control)
    measured.common.push(common)
    measured.pothos.push(pothos)
    measured.whole.push(wholeGateway)
    measured.again.push(again)
  }
  return measured
}

/** Measures the control. */
function loadBusy(busy: Server, us: number, ms: number): Promise<Measured> {
  const askNext = (line: Line) => line.get('/', `busy-us: ${us.toFixed(0)}\r\n`)
  return loadBy(busy, askNext, { connections, ms, leadMs })
}

const head = [
  'document',
  'fields',
  'gateway µs (per second)',
  'Pothos µs (per second)',
  'ratio',
  'without slots',
  'p50 ms',
  'p99 ms',
  'p99 to p50',
  'of the control',
  'whole µs',
  'again µs',
  'statements',
]

function rowOf(
  { name, fields }: Page,
  { common, pothos, whole, again, control }: Rounds,
  idle: number,
): string[] {
  const cpu = (rounds: readonly Measured[]) => median(rounds.map(({ cpuUs }) => cpuUs))
  const cell = (rounds: readonly Measured[]) =>
    `${cpu(rounds).toFixed(0)} (${median(rounds.map(({ perSecond }) => perSecond)).toFixed(0)})`
  const ratio = (costOf: (round: Measured) => number) =>
    median(pothos.map(({ cpuUs }, i) => cpuUs / costOf(present(common[i], 'a round')))).toFixed(2)
  const { p50, p99 } = timesOf(common)
  const ofControl = timesOf(control)
  return [
    name,
    fields,
    cell(common),
    cell(pothos),
    ratio(({ cpuUs }) => cpuUs),
    ratio(({ cpuUs, perSecond }) => cpuUs - (idle * 1_000) / perSecond),
    p50.toFixed(1),
    p99.toFixed(1),
    (p99 / p50).toFixed(1),
    (ofControl.p99 / ofControl.p50).toFixed(1),
    cpu(whole).toFixed(0),
    cpu(again).toFixed(0),
  ]
}

function timesOf(rounds: readonly Measured[]): { readonly p50: number; readonly p99: number } {
  const times = rounds.flatMap((round) => round.times).sort((a, b) => a - b)
  const at = (part: number) => times[Math.floor(times.length * part)] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99) }
}

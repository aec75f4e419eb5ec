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
import { ask, bodyOf, compareAnswers, inOtherWords, type Question } from './compare.ts'
import type { GraphLedger } from './ledger.ts'
import { questionsOf } from './questions.ts'
import { counting, statementsOf } from './statements.ts'

/** Measures the pages of an explorer on a ledger: the gateway and the explorer of Prisma in turns. */

/** How long to measure what. */
export interface Options {
  readonly rounds: number
  /** Of a turn. */
  readonly ms: number
  /** One document alone. */
  readonly only: string | undefined
}

/** A page of an explorer: its document, and the part of it that both servers can tell. */
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
    plain.hold()
    const idle = await idleMsPerSecond(gateway)
    const load = loadavg()[0]?.toFixed(1)
    console.log(
      `load average ${load}; the gateway takes ${idle.toFixed(0)} ms of a second for its slots\n`,
    )
    printTable([head])
    for (const page of pages) {
      plain.goOn()
      await compareAnswers([gateway, plain], page)
      const measured = await inTurns({ gateway, plain, busy }, page, options)
      // Each when it is there: a run of an hour that fails at one page has shown those before it.
      printRow([...rowOf(page, measured, idle), present(statements.get(page), page.name)])
    }
    console.log()
  } finally {
    await gateway.end()
    await plain.end()
    await busy.end()
  }
}

/** What the gateway takes of a second when nobody asks it: it votes and commits slots. */
async function idleMsPerSecond(gateway: Server): Promise<number> {
  const spent = gateway.spent()
  await delay(idleSeconds * 1_000)
  return (gateway.spent() - spent) / idleSeconds
}

const idleSeconds = 6

/** The gateway when it has committed the slots that the making of the ledger took. */
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
    .map(([name, asked]) => {
      const whole = textOf(name)
      const { text, fields, ofFields } = commonPart(whole, schema)
      return { name, text, whole, variables: asked, fields: `${fields} of ${ofFields}` }
    })
}

/** The statements of each page, ours and those of the other one. */
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
      const ours = await statementsOf({ ...gateway, port }, page)
      counts.set(page, `${ours}, ${await statementsOf(plain, page)}`)
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

/** What was measured in each round. */
interface Rounds {
  readonly ours: Measured[]
  readonly theirs: Measured[]
  /** The whole document, of the gateway alone. */
  readonly whole: Measured[]
  /** The same as of `ours`, in the same words each time. */
  readonly again: Measured[]
  /** A bare handler that computes for as long as the gateway does, on as many connections: the tail that this machine gives any server. */
  readonly control: Measured[]
}

async function inTurns(
  { gateway, plain, busy }: Readonly<Record<'gateway' | 'plain' | 'busy', Server>>,
  { text, variables, whole }: Page,
  { rounds, ms }: Options,
): Promise<Rounds> {
  const measured: Rounds = { ours: [], theirs: [], whole: [], again: [], control: [] }
  let asked = 0
  /** The gateway keeps what it answered to the same words, which is measured apart. */
  const by = (document: string, isNew: boolean) => {
    const bodies = variables.map((one) => bodyOf(document, one))
    return (server: Server) => {
      const askNext = (line: Line) => {
        const body = present(bodies[asked++ % bodies.length], 'a question')
        return ask(line, isNew ? inOtherWords(body, asked) : body)
      }
      return loadBy(server, askNext, { connections, ms, leadMs })
    }
  }
  const common = by(text, true)
  const all = by(whole, true)
  const same = by(text, false)
  /** With the other one held. */
  const ofOurs = async (load: typeof common) => {
    plain.hold()
    const one = await load(gateway)
    plain.goOn()
    return one
  }
  const bareUs = (await loadBusy(busy, 0, ms)).cpuUs
  // The first round warms up. The two that are compared follow each other, now this one first and now that one, for a machine changes its pace.
  for (let round = 0; round <= rounds; round++) {
    const former = round % 2 === 0 ? undefined : await common(plain)
    const ours = await ofOurs(common)
    const theirs = former ?? (await common(plain))
    const [wholeOurs, again] = [await ofOurs(all), await ofOurs(same)]
    plain.hold()
    const control = await loadBusy(busy, Math.max(ours.cpuUs - bareUs, 0), ms)
    plain.goOn()
    if (round === 0) continue
    measured.control.push(control)
    measured.ours.push(ours)
    measured.theirs.push(theirs)
    measured.whole.push(wholeOurs)
    measured.again.push(again)
  }
  return measured
}

/** Requests to the control. */
function loadBusy(busy: Server, us: number, ms: number): Promise<Measured> {
  const askNext = (line: Line) => line.get('/', `busy-us: ${us.toFixed(0)}\r\n`)
  return loadBy(busy, askNext, { connections, ms, leadMs })
}

const head = [
  'document',
  'fields',
  'ours µs (a second)',
  'Pothos µs (a second)',
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
  { ours, theirs, whole, again, control }: Rounds,
  idle: number,
): string[] {
  const cpu = (rounds: readonly Measured[]) => median(rounds.map(({ cpuUs }) => cpuUs))
  const cell = (rounds: readonly Measured[]) =>
    `${cpu(rounds).toFixed(0)} (${median(rounds.map(({ perSecond }) => perSecond)).toFixed(0)})`
  const ratio = (costOf: (round: Measured) => number) =>
    median(theirs.map(({ cpuUs }, i) => cpuUs / costOf(present(ours[i], 'a round')))).toFixed(2)
  const { p50, p99 } = timesOf(ours)
  const ofControl = timesOf(control)
  return [
    name,
    fields,
    cell(ours),
    cell(theirs),
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

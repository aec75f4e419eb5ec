import { setTimeout as delay } from 'node:timers/promises'
import { compile } from '../support/compiled.ts'
import { openStream } from '../support/event-stream.ts'
import { makeFolder } from '../support/program.ts'
import { createRandom } from '../support/random.ts'
import { until } from '../support/until.ts'
import { getJson, untilCommitted, untilHealth } from '../support/wallet.ts'
import { type DoorName, doors } from './doors.ts'
import { startTorturedGateway, type TorturedGateway } from './gateway-process.ts'
import { type Listener, startListener } from './listener.ts'
import { readLogFile } from './log-file.ts'
import { faultsOf, seqIn } from './log-rows.ts'
import { startTraffic } from './traffic.ts'

/** The feed under torture: whatever is done to gateway and lines, every client's history must equal the log. */

/** How much. */
export interface TortureOptions {
  readonly seconds: number
  readonly kills: number
  readonly listeners: number
  readonly paymentsPerSecond: number
  readonly seed: number
  /** Told now and then how it goes. */
  readonly onProgress: (text: string) => void
}

/** What was done, and what came of it. */
export interface TortureReport {
  readonly kills: number
  readonly livesWithoutWakeUps: number
  readonly jumps: number
  readonly payments: number
  readonly rows: number
  readonly deliveries: number
  readonly disconnects: number
  readonly stalls: number
  readonly breaks: number
  readonly sessions: Readonly<Record<DoorName, number>>
  /** Nothing, where all is well. */
  readonly faults: readonly string[]
}

/** The addresses between which money moves. */
const addressCount = 30

/** Tortures a gateway on a database of its own. */
export async function torture(options: TortureOptions): Promise<TortureReport> {
  const { seed, onProgress } = options
  const random = createRandom(seed)
  const folder = makeFolder()
  const program = new URL(
    'test/torture/gateway.js',
    compile('torture', ['test/torture/gateway.ts']),
  )
  const gateway = await startTorturedGateway(program, folder)
  try {
    await untilHealth(gateway.url)
    const perSecond = options.paymentsPerSecond
    const traffic = await startTraffic(gateway, { random, perSecond, addresses: addressCount })
    const genesis = await beginningOf(gateway.url)
    const listeners = Array.from({ length: options.listeners }, (_, i) =>
      startListener({ urls: [gateway.url], random: createRandom(seed + i + 1), ...whoIs(i) }),
    )

    /** One in ten follows the whole ledger; half begin at the first row. */
    function whoIs(i: number) {
      const count = i % 3 === 0 ? 1 : random.between(1, 6)
      const some = random.shuffled(traffic.addresses).slice(0, count)
      return {
        addresses: i % 10 === 0 ? undefined : some,
        classes: i % 7 === 0 ? (['OWNED', 'MENTIONED'] as const) : (['OWNED'] as const),
        after: i % 2 === 0 ? genesis : undefined,
      }
    }

    const done = await tamper(gateway, options)
    onProgress(`${traffic.paid()} payments, waiting for everybody to hear of the last one`)
    await traffic.stop()
    await caughtUp(gateway, listeners, traffic.lastSlot())
    await Promise.all(listeners.map((listener) => listener.stop()))
    await gateway.end()
    const log = readLogFile(folder.databaseFile)
    return {
      ...done,
      ...totals(listeners),
      payments: traffic.paid(),
      rows: log.rows.length,
      faults: [
        ...log.faults,
        ...listeners.flatMap((listener, i) =>
          faultsOf(listener, log.rows).map((fault) => `client ${i}: ${fault}`),
        ),
      ],
    }
  } finally {
    await gateway.kill()
    folder.remove()
  }
}

/** Kills the gateway again and again, makes it deaf for every third life, and moves its clock. */
async function tamper(
  gateway: TorturedGateway,
  { seconds, kills, seed, onProgress }: TortureOptions,
) {
  const random = createRandom(seed)
  const start = performance.now()
  let jumps = 0
  let deafLives = 0
  for (let life = 0; life <= kills; life++) {
    if (life > 0) {
      await gateway.kill()
      const losesWakeUps = life % 3 === 0
      if (losesWakeUps) deafLives++
      await gateway.start({ losesWakeUps })
      onProgress(`${life} of ${kills} kills`)
    }
    // Starting takes its time, so each life ends when it is due, but not before something can happen in it.
    const due = start + (seconds * 1_000 * (life + 1)) / (kills + 1)
    const end = Math.max(due, performance.now() + shortestLifeMs)
    while (performance.now() < end) {
      await delay(Math.min(500, Math.max(end - performance.now(), 1)))
      if (random.between(0, 4) > 0) continue
      gateway.jump(
        random.between(0, 3) === 0 ? -random.between(1, 1_500) : random.between(1, 5_000),
      )
      jumps++
    }
  }
  return { kills, jumps, livesWithoutWakeUps: deafLives }
}

/** In milliseconds. */
const shortestLifeMs = 1_500

/** The cursor before the first row, as every feed names it when it opens. */
async function beginningOf(url: string): Promise<string> {
  const query = 'subscription { ledgerUpdates { ... on FeedOpened { oldestCursor } } }'
  const stream = await openStream(`${url}/graphql?${new URLSearchParams({ query })}`)
  const { data } = await stream.result()
  stream.close()
  return data.ledgerUpdates.oldestCursor
}

/** Waits until the last payment's slot is committed and every client has come to the end of the log. */
async function caughtUp(
  { url }: TorturedGateway,
  listeners: readonly Listener[],
  lastSlot: number,
): Promise<void> {
  await untilHealth(url)
  await untilCommitted(url, lastSlot + 1)
  const { cursor } = await getJson(`${url}/feed/updates`)
  const end = seqIn(cursor) ?? 0
  const isThere = (listener: Listener) => (seqIn(listener.cursor()) ?? 0) >= end
  const what = 'every listener has come to the end of the log'
  await until(() => listeners.every(isThere), { what, deadlineMs: 600_000 })
}

function totals(listeners: readonly Listener[]) {
  const sum = (count: (listener: Listener) => number) =>
    listeners.reduce((total, listener) => total + count(listener), 0)
  const sessions = { websocket: 0, events: 0, poll: 0, connection: 0, client: 0 }
  for (const name of Object.keys(doors)) {
    if (name in sessions) {
      const door = name as DoorName
      sessions[door] = sum(({ counts }) => counts.sessions[door])
    }
  }
  return {
    sessions,
    deliveries: sum(({ history }) => history.length),
    disconnects: sum(({ counts }) => counts.disconnects),
    stalls: sum(({ counts }) => counts.stalls),
    breaks: sum(({ counts }) => counts.breaks),
  }
}

import { setTimeout as delay } from 'node:timers/promises'
import { compile } from '../support/compiled.ts'
import { openStream } from '../support/event-stream.ts'
import { makeFolder } from '../support/program.ts'
import { createRandom } from '../support/random.ts'
import { restJson } from '../support/rest.ts'
import { until } from '../support/until.ts'
import { untilCommitted, untilHealth } from '../support/wallet.ts'
import { startTorturedGateway, type TorturedGateway } from './gateway-process.ts'
import { readLogFile } from './log-file.ts'
import { faultsOf, seqOf } from './log-rows.ts'
import { type Subscriber, startSubscriber } from './subscriber.ts'
import { startTraffic } from './traffic.ts'
import { type TransportName, transports } from './transports.ts'

/** Kills a gateway repeatedly and checks that the updates that each subscriber received equal the log. */

/** The extent of a run. */
export interface TortureOptions {
  readonly seconds: number
  readonly kills: number
  readonly subscribers: number
  readonly paymentsPerSecond: number
  readonly seed: number
  /** Receives lines about the progress. */
  readonly onProgress: (text: string) => void
}

/** The result of a run. */
export interface TortureReport {
  readonly kills: number
  readonly runsWithoutWakeUps: number
  readonly jumps: number
  readonly payments: number
  readonly rows: number
  readonly deliveries: number
  readonly disconnects: number
  readonly stalls: number
  readonly breaks: number
  readonly sessions: Readonly<Record<TransportName, number>>
  /** Empty if the run passed. */
  readonly faults: readonly string[]
}

/** The number of addresses that pay each other. */
const addressCount = 30

/** Runs the torture on a gateway with a new database. */
export async function torture(options: TortureOptions): Promise<TortureReport> {
  const { seed, onProgress } = options
  const random = createRandom(seed)
  const folder = makeFolder()
  const program = new URL(
    'test/torture/gateway.js',
    compile('torture', ['test/torture/gateway.ts']),
  )
  const gateway = await startTorturedGateway(program, folder)
  const clients: { stop(): Promise<void> }[] = []
  try {
    await untilHealth(gateway.url)
    const perSecond = options.paymentsPerSecond
    const traffic = await startTraffic(gateway, { random, perSecond, addresses: addressCount })
    const genesis = await oldestCursorOf(gateway.url)
    const subscribers = Array.from({ length: options.subscribers }, (_, i) =>
      startSubscriber({ urls: [gateway.url], random: createRandom(seed + i + 1), ...optionsOf(i) }),
    )

    /** One subscriber in ten follows the whole ledger, and half of them start at the first row. */
    function optionsOf(i: number) {
      const count = i % 3 === 0 ? 1 : random.between(1, 6)
      const chosen = random.shuffled(traffic.addresses).slice(0, count)
      return {
        addresses: i % 10 === 0 ? undefined : chosen,
        classes: i % 7 === 0 ? (['OWNED', 'MENTIONED'] as const) : (['OWNED'] as const),
        after: i % 2 === 0 ? genesis : undefined,
      }
    }

    clients.push(traffic, ...subscribers)
    const done = await tamper(gateway, options)
    onProgress(
      `${traffic.paid()} payments, waiting until all subscribers have received the last one`,
    )
    await traffic.stop()
    await untilCaughtUp(gateway, subscribers, traffic.lastSlot())
    await Promise.all(subscribers.map((subscriber) => subscriber.stop()))
    await gateway.end()
    const log = readLogFile(folder.databaseFile)
    return {
      ...done,
      ...totals(subscribers),
      payments: traffic.paid(),
      rows: log.rows.length,
      faults: [
        ...log.faults,
        ...subscribers.flatMap((subscriber, i) =>
          faultsOf(subscriber, log.rows).map((fault) => `subscriber ${i}: ${fault}`),
        ),
      ],
    }
  } finally {
    await Promise.all(clients.map((client) => client.stop()))
    await gateway.kill()
    folder.remove()
  }
}

/** Kills the gateway repeatedly, suppresses wake-ups in every third run of its process, and moves its clock. */
async function tamper(
  gateway: TorturedGateway,
  { seconds, kills, seed, onProgress }: TortureOptions,
) {
  const random = createRandom(seed)
  const start = performance.now()
  let jumps = 0
  let runsWithoutWakeUps = 0
  for (let run = 0; run <= kills; run++) {
    if (run > 0) {
      await gateway.kill()
      const losesWakeUps = run % 3 === 0
      if (losesWakeUps) runsWithoutWakeUps++
      await gateway.start({ losesWakeUps })
      onProgress(`${run} of ${kills} kills`)
    }
    // A start takes time. Each run of the process therefore ends on schedule, but has a minimum length.
    const due = start + (seconds * 1_000 * (run + 1)) / (kills + 1)
    const end = Math.max(due, performance.now() + minRunMs)
    while (performance.now() < end) {
      await delay(Math.min(500, Math.max(end - performance.now(), 1)))
      if (random.between(0, 4) > 0) continue
      gateway.jump(
        random.between(0, 3) === 0 ? -random.between(1, 1_500) : random.between(1, 5_000),
      )
      jumps++
    }
  }
  return { kills, jumps, runsWithoutWakeUps }
}

const minRunMs = 1_500

/** Returns the cursor before the first row, which each feed reports when it opens. */
async function oldestCursorOf(url: string): Promise<string> {
  const query = 'subscription { ledgerUpdates { ... on FeedOpened { oldestCursor } } }'
  const stream = await openStream(`${url}/graphql?${new URLSearchParams({ query })}`)
  const { data } = await stream.result()
  stream.close()
  return data.ledgerUpdates.oldestCursor
}

/** Waits until the slot of the last payment is committed and each subscriber has reached the end of the log. */
async function untilCaughtUp(
  { url }: TorturedGateway,
  subscribers: readonly Subscriber[],
  lastSlot: number,
): Promise<void> {
  await untilHealth(url)
  await untilCommitted(url, lastSlot + 1)
  const { cursor } = await restJson(`${url}/feed/updates`)
  const end = seqOf(cursor) ?? 0
  const isAtEnd = (subscriber: Subscriber) => (seqOf(subscriber.cursor()) ?? 0) >= end
  const what = 'each subscriber reaches the end of the log'
  await until(() => subscribers.every(isAtEnd), { what, deadlineMs: 600_000 })
}

function totals(subscribers: readonly Subscriber[]) {
  const sum = (count: (subscriber: Subscriber) => number) =>
    subscribers.reduce((total, subscriber) => total + count(subscriber), 0)
  const sessions = { websocket: 0, events: 0, poll: 0, connection: 0, client: 0 }
  for (const name of Object.keys(transports)) {
    if (name in sessions) {
      const transport = name as TransportName
      sessions[transport] = sum(({ counts }) => counts.sessions[transport])
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

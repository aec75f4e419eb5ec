import { setTimeout as delay } from 'node:timers/promises'
import type { FeedUpdate, UpdateClass } from '../../src/client/events.ts'
import type { Random } from '../support/random.ts'
import { isUsable, type Step, type TransportName, transports } from './transports.ts'

/** A client that subscribes with one transport after another, always from its last cursor, and records the updates that it receives. */

/** A running client. */
export interface Subscriber {
  readonly addresses: readonly string[] | undefined
  readonly classes: readonly UpdateClass[]
  /** All received updates, in the order of their arrival. */
  readonly history: readonly FeedUpdate[]
  /** The cursor of its start; `undefined` until the first response. */
  startCursor(): string | undefined
  cursor(): string | undefined
  readonly counts: SubscriberCounts
  /** Each cursor that does not continue from the cursor before. */
  faults(): readonly string[]
  stop(): Promise<void>
}

/** Counts the actions of a client. */
export interface SubscriberCounts {
  readonly sessions: Record<TransportName, number>
  /** The number of subscriptions that it ended itself. */
  disconnects: number
  /** The number of pauses in which it did not read. */
  stalls: number
  /** The number of connections that were lost or failed. */
  breaks: number
}

/** The settings of a client. */
export interface SubscriberOptions {
  /** The URL of one gateway, or of several on one log; the client chooses one for each subscription. */
  readonly urls: readonly [string, ...string[]]
  readonly addresses: readonly string[] | undefined
  readonly classes: readonly UpdateClass[]
  /** The cursor to start after; `undefined` for the updates that are committed from now on. */
  readonly after: string | undefined
  readonly random: Random
}

/** Starts a client. */
export function startSubscriber({ urls, random, ...options }: SubscriberOptions): Subscriber {
  const { addresses, classes } = options
  const history: FeedUpdate[] = []
  const faults: string[] = []
  let start = options.after
  let cursor = options.after
  const counts: SubscriberCounts = {
    sessions: { websocket: 0, events: 0, poll: 0, connection: 0, client: 0 },
    disconnects: 0,
    stalls: 0,
    breaks: 0,
  }
  const ending = new AbortController()
  const { signal } = ending
  const running = run()

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const url = urls[random.between(0, urls.length - 1)] ?? urls[0]
      const session = { url, addresses, classes, after: cursor, random, signal }
      const name = pick(
        Object.keys(transports)
          .filter(isTransport)
          .filter((transport) => isUsable(transport, session)),
      )
      counts.sessions[name]++
      try {
        await receive(transports[name](session))
      } catch {
        // The gateway is unavailable, or the connection was lost.
        if (signal.aborted) return
        counts.breaks++
        await delay(random.between(100, 1_000), undefined, { signal }).catch(() => {})
      }
    }
  }

  async function receive(steps: AsyncIterable<Step>): Promise<void> {
    let remaining = random.between(1, 40)
    for await (const step of steps) {
      record(step)
      remaining--
      if (remaining <= 0) {
        counts.disconnects++
        return
      }
      if (random.between(0, 60) === 0) {
        counts.stalls++
        await delay(random.between(200, 3_000), undefined, { signal }).catch(() => {})
      }
    }
  }

  function record(step: Step): void {
    if (cursor === undefined) {
      start = step.previousCursor ?? step.cursor
    } else if (
      step.isOpening ? step.cursor !== cursor : (step.previousCursor ?? cursor) !== cursor
    ) {
      faults.push(`after ${cursor} a step continued from ${step.previousCursor ?? step.cursor}`)
    }
    history.push(...step.updates)
    cursor = step.cursor
  }

  function pick(names: readonly TransportName[]): TransportName {
    return names[random.between(0, names.length - 1)] ?? 'websocket'
  }

  return {
    addresses,
    classes,
    history,
    startCursor: () => start,
    cursor: () => cursor,
    counts,
    faults: () => faults,
    stop: async () => {
      ending.abort()
      await running
    },
  }
}

function isTransport(name: string): name is TransportName {
  return name in transports
}

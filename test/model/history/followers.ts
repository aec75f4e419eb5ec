import { setTimeout as delay } from 'node:timers/promises'
import { openStream } from '../../support/event-stream.ts'
import { until } from '../../support/until.ts'
import type { HistoryWorld } from './world.ts'

/** Subscriptions that stay open during a history. They resume after their last event whenever the gateway is closed. */

/** An event of a subscription: its data and its errors. */
// biome-ignore lint/suspicious/noExplicitAny: the shape is that of the query
export type FeedEvent = any

/** A subscription that runs. */
export interface Follower {
  readonly events: readonly FeedEvent[]
  /** Waits until an event satisfies a condition, and ends the subscription. */
  end(isLast: (event: FeedEvent) => boolean): Promise<void>
  /** Ends the subscription at once. */
  close(): Promise<void>
}

/** A subscription. */
export interface Subscription {
  /** The query from the last event on; without an event from the beginning. */
  readonly query: (last: FeedEvent | undefined) => string
  /** Whether an event is kept, and the subscription can resume after it. */
  readonly isKept?: (event: FeedEvent) => boolean
}

/** Starts a subscription by server-sent events. */
export function startFollower(
  world: Pick<HistoryWorld, 'url'>,
  { query, isKept = () => true }: Subscription,
): Follower {
  const events: FeedEvent[] = []
  let isEnded = false
  let closeStream = () => {}
  const running = run()

  async function run(): Promise<void> {
    while (!isEnded) {
      await receive().catch(() => {})
      // The gateway is closed, and opens at another port.
      await delay(20)
    }
  }

  async function receive(): Promise<void> {
    const parameters = new URLSearchParams({ query: query(events.at(-1)) })
    const stream = await openStream(`${world.url}/graphql?${parameters}`)
    closeStream = stream.close
    for (;;) {
      const result = await stream.result()
      if (result === null || isEnded) return
      const [event] = Object.values(result.data ?? {})
      if (event === undefined) throw new Error(JSON.stringify(result.errors))
      if (isKept(event)) events.push(event)
    }
  }

  async function close(): Promise<void> {
    isEnded = true
    closeStream()
    await running
  }

  return {
    events,
    end: async (isLast) => {
      await until(() => events.some(isLast), { what: 'the last event', deadlineMs: 60_000 })
      await close()
    },
    close,
  }
}

import { createRandom } from '../support/random.ts'
import { until } from '../support/until.ts'
import { type ExpectedRow, rowsFor, seqOf } from './log-rows.ts'
import { type Subscriber, startSubscriber } from './subscriber.ts'

/** Subscribers of all updates of several gateways on one log. */

/** Starts subscribers. Each changes between transports and gateways, and always continues from its last cursor. */
export function startSubscribers(
  urls: readonly [string, ...string[]],
  options: { readonly subscribers: number; readonly seed: number },
): readonly Subscriber[] {
  return Array.from({ length: options.subscribers }, (_, i) => {
    const random = createRandom(options.seed + i + 1)
    const classes = ['OWNED', 'MENTIONED'] as const
    return startSubscriber({ urls, random, addresses: undefined, classes, after: undefined })
  })
}

/** Waits until each subscriber has received its last row of the log. */
export async function untilCaughtUp(
  subscribers: readonly Subscriber[],
  rows: readonly ExpectedRow[],
  deadlineMs = 120_000,
): Promise<void> {
  for (const subscriber of subscribers) {
    const last = rowsFor(subscriber, rows).at(-1)?.seq ?? 0
    const what = `a subscriber reaches position ${last}`
    const isAtEnd = () => (seqOf(subscriber.cursor()) ?? 0) >= last
    await until(isAtEnd, { what, deadlineMs }).catch((failure) => {
      const { counts, cursor, faults } = subscriber
      throw new Error(
        `${failure} ${JSON.stringify({ cursor: cursor(), ...counts, faults: faults() })}`,
      )
    })
  }
}

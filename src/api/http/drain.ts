import { setTimeout as delay } from 'node:timers/promises'

/** Spreads the closing of connections over time when the gateway stops, because all clients reconnect elsewhere. */

/** Calls `act` for every item, spread evenly over at most `windowMs`; a few items take less time. */
export async function spread<T>(
  items: readonly T[],
  windowMs: number,
  act: (item: T) => void,
): Promise<void> {
  const window = Math.min(windowMs, items.length * perItemMs)
  const pauses = Math.ceil(window / pauseMs)
  const perPause = Math.ceil(items.length / Math.max(pauses, 1))
  for (const [i, item] of items.entries()) {
    if (i > 0 && i % perPause === 0) await delay(pauseMs)
    act(item)
  }
}

/** Longest average time between two items, in milliseconds. */
const perItemMs = 10

const pauseMs = 20

import { setTimeout as delay } from 'node:timers/promises'

/** Sends clients away when the gateway stops: not all in one moment, for they all come again somewhere else. */

/** Does something to every item, spread evenly over some milliseconds; a few are quicker done. */
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

/** No more than this between two items, however wide the window. */
const perItemMs = 10

const pauseMs = 20

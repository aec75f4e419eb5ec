import { setImmediate } from 'node:timers/promises'
import { assert } from '../lib/assert.ts'

/** Runs asynchronous work one piece at a time, in the order of the calls. */
export interface SerialQueue {
  /** Runs `work` after all earlier work has ended, and gives its outcome. */
  take<T>(work: () => Promise<T>): Promise<T>
  /** How much work has not ended. */
  length(): number
  /** Waits for all work, and refuses later work. */
  close(): Promise<void>
}

/** A new line of turns. */
export function createSerialQueue(): SerialQueue {
  let last: Promise<unknown> = Promise.resolve()
  let isClosed = false
  let length = 0

  async function take<T>(work: () => Promise<T>): Promise<T> {
    assert(!isClosed, 'the store is open')
    // The driver of SQLite is synchronous: without this a long line would keep the event loop to itself.
    length++
    const turn = last
      .then(() => setImmediate())
      .then(work)
      .finally(() => length--)
    // The failure is its asker's; the next turn begins all the same.
    last = turn.catch(() => {})
    return turn
  }

  async function close(): Promise<void> {
    isClosed = true
    await last
  }

  return { take, length: () => length, close }
}

import { setImmediate } from 'node:timers/promises'
import { assert } from '../lib/assert.ts'

/** Runs asynchronous work one piece at a time, in the order of the calls. */
export interface SerialQueue {
  /** Runs `work` after all earlier work has ended, and resolves or rejects as `work` does. */
  take<T>(work: () => Promise<T>): Promise<T>
  /** Number of pieces of work that have not ended. */
  length(): number
  /** Waits for all work, and rejects later work. */
  close(): Promise<void>
}

/** Creates an empty queue. */
export function createSerialQueue(): SerialQueue {
  let last: Promise<unknown> = Promise.resolve()
  let isClosed = false
  let length = 0

  async function take<T>(work: () => Promise<T>): Promise<T> {
    assert(!isClosed, 'the store is open')
    // The driver of SQLite is synchronous. Without this pause a long queue would block the event loop.
    length++
    const turn = last
      .then(() => setImmediate())
      .then(work)
      .finally(() => length--)
    // The caller gets the failure. The next piece of work begins regardless.
    last = turn.catch(() => {})
    return turn
  }

  async function close(): Promise<void> {
    isClosed = true
    await last
  }

  return { take, length: () => length, close }
}

import { setImmediate } from 'node:timers/promises'
import { assert } from '../lib/assert.ts'

/** Lets asynchronous work happen one piece at a time, in the order asked. */
export interface SerialQueue {
  /** Runs `work` when all asked before is over, and gives its outcome. */
  take<T>(work: () => Promise<T>): Promise<T>
  /** Waits for all that was asked, and refuses what comes later. */
  close(): Promise<void>
}

/** A new line of turns. */
export function createSerialQueue(): SerialQueue {
  let last: Promise<unknown> = Promise.resolve()
  let isClosed = false

  async function take<T>(work: () => Promise<T>): Promise<T> {
    assert(!isClosed, 'the store is open')
    // The driver of SQLite is synchronous: without this a long line would keep the event loop to itself.
    const turn = last.then(() => setImmediate()).then(work)
    // The failure is its asker's; the next turn begins all the same.
    last = turn.catch(() => {})
    return turn
  }

  async function close(): Promise<void> {
    isClosed = true
    await last
  }

  return { take, close }
}

import { setTimeout as delay } from 'node:timers/promises'
import { isStoreAway } from './faults.ts'

/** Reads that wait for an unreachable database instead of failing. */

/** Retries a read while the database is unreachable. Throws all other failures, and any failure after the signal has aborted. */
export async function retryWhileAway<T>(read: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await read()
    } catch (failure) {
      if (signal?.aborted || !isStoreAway(failure)) throw failure
      await delay(retryMs, undefined, { signal, ref: false }).catch(() => {})
    }
  }
}

/** Wraps a reader so that each read is retried while the database is unreachable. */
export function retryingReader<T extends object>(read: T): T {
  const retrying = Object.entries(read).map(([name, call]) => [
    name,
    (...args: unknown[]) => retryWhileAway(() => call(...args)),
  ])
  return Object.fromEntries(retrying)
}

/** Milliseconds between two attempts. */
const retryMs = 250

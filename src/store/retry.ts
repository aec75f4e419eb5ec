import { setTimeout as delay } from 'node:timers/promises'
import { isStoreAway } from './faults.ts'

/** Reads for those who wait for the database while it is away, instead of failing with it. */

/** Reads again until the database has answered. What is no absence is thrown, and so is the absence once the signal has fired. */
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

/** A reading side, all of whose reads are patient. */
export function retryingReader<T extends object>(read: T): T {
  const patient = Object.entries(read).map(([name, ask]) => [
    name,
    (...question: unknown[]) => retryWhileAway(() => ask(...question)),
  ])
  return Object.fromEntries(patient)
}

/** Between two attempts, in milliseconds. */
const retryMs = 250

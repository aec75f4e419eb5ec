import type { Log } from '../lib/log.ts'
import { isStoreFault } from './faults.ts'

/** Logs why a background task failed that goes on all the same, under the name of an event. */
export type FailureLog = (event: string, failure: unknown) => void

/**
 * Creates the log of a task that is repeated. Faults of the store are left out, for `fault-log.ts` logs them; a failure
 * that is the same as the one before is logged once a minute.
 */
export function createFailureLog(log: Pick<Log, 'error'>): FailureLog {
  let last = { text: '', at: 0 }
  return (event, failure) => {
    if (isStoreFault(failure)) return
    const text = `${event} ${failure}`
    const now = performance.now()
    if (text === last.text && now < last.at + repeatMs) return
    last = { text, at: now }
    log.error(event, { error: failure })
  }
}

const repeatMs = 60_000

import type { Log } from '../lib/log.ts'
import { isStoreFault } from './faults.ts'

/** Logs a failure of a background task that continues, under the name of an event. */
export type FailureLog = (event: string, failure: unknown) => void

/**
 * Creates the log of a repeated task. It omits faults of the store, which `fault-log.ts` logs. It logs a repeated failure once a
 * minute.
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

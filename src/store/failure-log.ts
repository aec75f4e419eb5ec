import type { Log } from '../lib/log.ts'
import { isStoreFault } from './faults.ts'

/** Logs a failure of a background task that continues, under the name of an event. */
export type FailureLog = (event: string, failure: unknown) => void

/**
 * Creates the log of repeated tasks. It omits faults of the store, which `fault-log.ts` logs. It logs a repeated failure of a task once
 * a minute.
 */
export function createFailureLog(log: Pick<Log, 'error'>): FailureLog {
  const lastByEvent = new Map<string, { readonly text: string; readonly at: number }>()
  return (event, failure) => {
    if (isStoreFault(failure)) return
    const text = String(failure)
    const now = performance.now()
    const last = lastByEvent.get(event)
    if (text === last?.text && now < last.at + repeatMs) return
    lastByEvent.set(event, { text, at: now })
    log.error(event, { error: failure })
  }
}

const repeatMs = 60_000

import type { Log } from '../lib/log.ts'
import { createOutage } from '../lib/outage.ts'

/** Measures the event loop delay: every request waits for that long before the gateway handles it. */

/** A measurement of the event loop delay, ten times per second. */
export interface OverloadWatch {
  /** Whether the average delay is above the limit. */
  isOverloaded(): boolean
  close(): void
}

/** Starts measuring; a limit of 0 milliseconds means that the gateway is never overloaded. */
export function watchOverload(limitMs: number, log: Pick<Log, 'info' | 'warn'>): OverloadWatch {
  const outage = createOutage(log, { began: 'overloaded', over: 'overload-over' })
  let meanMs = 0
  let at = performance.now()

  function measure(): void {
    const now = performance.now()
    const lateMs = Math.max(0, now - at - everyMs)
    at = now
    meanMs += (lateMs - meanMs) * newestWeight
    if (isOverloaded()) outage.failed(`the event loop is ${Math.round(meanMs)} ms late`)
    else outage.recovered()
  }

  const isOverloaded = () => limitMs > 0 && meanMs > limitMs
  const timer = setInterval(measure, everyMs)
  timer.unref()
  return { isOverloaded, close: () => clearInterval(timer) }
}

const everyMs = 100

/** Weight of the newest sample in the moving average: one long turn of the event loop is no overload, several are. */
const newestWeight = 0.3

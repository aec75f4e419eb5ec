import type { Log } from '../lib/log.ts'
import { createOutage } from '../lib/outage.ts'

/** How late the event loop is: every request waits for that long before anything of it is done. */

/** A measure of the delay, ten times a second. */
export interface OverloadWatch {
  /** Whether it has lately been later than it may be. */
  isOverloaded(): boolean
  close(): void
}

/** Begins to measure; with a limit of 0 milliseconds nothing is ever too late. */
export function watchOverload(limitMs: number, log: Pick<Log, 'info' | 'warn'>): OverloadWatch {
  const outage = createOutage(log, { began: 'overloaded', over: 'overload-over' })
  let meanMs = 0
  let at = performance.now()

  function look(): void {
    const now = performance.now()
    const lateMs = Math.max(0, now - at - everyMs)
    at = now
    meanMs += (lateMs - meanMs) * newestShare
    if (isOverloaded()) outage.failed(`the event loop is ${Math.round(meanMs)} ms late`)
    else outage.recovered()
  }

  const isOverloaded = () => limitMs > 0 && meanMs > limitMs
  const looking = setInterval(look, everyMs)
  looking.unref()
  return { isOverloaded, close: () => clearInterval(looking) }
}

const everyMs = 100

/** One long turn of the loop is no overload, and several are. */
const newestShare = 0.3

import type { Clock, MachineClock } from './clock.ts'
import type { Log } from './log.ts'

/**
 * The time that slots go by. What is committed cannot be undone, so a clock that leaps ahead is not followed at once: until
 * the leap has stood for a minute, or the operator confirms it, time goes on by the monotonic clock.
 */

/** The clock of a machine, guarded. */
export interface GuardedClock extends Clock {
  /** Whether the machine's clock has leapt ahead and is not followed yet. */
  hasLeapt(): boolean
  /** The operator says that the machine's clock is right: it is followed at once. */
  confirm(): void
  close(): void
}

/** What guarding a clock needs. */
export interface GuardedClockDeps {
  readonly clock: MachineClock
  readonly log: Pick<Log, 'info' | 'warn'>
}

/**
 * Guards a clock from now on. Its time at this moment is taken as it is: nothing shows how long the program was not running.
 *
 * A clock that is set back is followed at once, for less is committed then and not more. Where it was set back by more than
 * a minute, it may return to where it would be by now at any time.
 */
export function guardClock({ clock, log }: GuardedClockDeps): GuardedClock {
  /** The time that was followed last, and the monotonic clock's reading then. */
  let followed = { ns: clock.nowNs(), at: clock.monotonicNs() }
  let leap: Leap | undefined
  const looking = setInterval(nowNs, everyMs)
  looking.unref()
  clock.onJump?.(nowNs)

  function nowNs(): bigint {
    const at = clock.monotonicNs()
    const ns = clock.nowNs()
    const expected = followed.ns + (at - followed.at)
    const aheadNs = ns - expected
    if (aheadNs > allowedNs && !hasStood(aheadNs, at)) return expected
    if (leap !== undefined) end(aheadNs > allowedNs ? 'STOOD' : 'UNDONE', at)
    if (aheadNs >= -allowedNs) followed = { ns, at }
    return ns
  }

  /** Whether a leap is old enough to be followed; another leap on top of it restarts the minute. */
  function hasStood(aheadNs: bigint, at: bigint): boolean {
    if (leap === undefined) {
      const aheadSeconds = Number(aheadNs / nsPerSecond)
      log.warn('clock-leapt', { aheadSeconds, followedInSeconds: Number(standsNs / nsPerSecond) })
      leap = { aheadNs, begunAt: at, since: at }
    }
    const differenceNs = aheadNs - leap.aheadNs
    const isAnother = differenceNs > allowedNs || differenceNs < -allowedNs
    if (isAnother) leap = { ...leap, aheadNs, since: at }
    return at - leap.since >= standsNs
  }

  function end(outcome: 'STOOD' | 'UNDONE' | 'CONFIRMED', at: bigint): void {
    if (leap === undefined) return
    const lastedMs = Number((at - leap.begunAt) / 1_000_000n)
    leap = undefined
    log.info('clock-leap-over', { outcome: outcome.toLowerCase(), lastedMs })
  }

  function hasLeapt(): boolean {
    nowNs()
    return leap !== undefined
  }

  function confirm(): void {
    if (!hasLeapt()) return
    const at = clock.monotonicNs()
    followed = { ns: clock.nowNs(), at }
    end('CONFIRMED', at)
  }

  const { onJump } = clock
  const close = () => clearInterval(looking)
  return { nowNs, hasLeapt, confirm, close, ...(onJump && { onJump }) }
}

/** A leap that is not followed, by the monotonic clock in nanoseconds. */
interface Leap {
  readonly aheadNs: bigint
  /** When it was seen. */
  readonly begunAt: bigint
  /** Since when the clock has stood as far ahead as it does. */
  readonly since: bigint
}

const nsPerSecond = 1_000_000_000n

/** A step within this is a correction: it may commit as many seconds of empty slots, and no more. */
const allowedNs = 60n * nsPerSecond

/** How long a leap must stand before it is followed: time enough to see it in the log, and to set the clock right. */
const standsNs = 60n * nsPerSecond

/** A leap is noticed with the next read of the time, and at the latest after this. */
const everyMs = 1_000

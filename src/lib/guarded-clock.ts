import type { Clock, MachineClock } from './clock.ts'
import type { Log } from './log.ts'

/**
 * The time that decides when slots end. A commit cannot be undone, so the guarded clock does not follow a forward leap at once: until
 * the leap has lasted for a minute, or the operator confirms it, the guarded clock advances with the monotonic clock.
 */

/** The clock of a machine, protected against forward leaps. */
export interface GuardedClock extends Clock {
  /** Whether the machine's clock has leapt ahead and the guarded clock does not follow it yet. */
  hasLeapt(): boolean
  /** Follows the machine's clock at once, because the operator has confirmed that it is right. */
  confirm(): void
  close(): void
}

export interface GuardedClockDeps {
  readonly clock: MachineClock
  readonly log: Pick<Log, 'info' | 'warn'>
}

/**
 * Guards a clock from now on. The current time of the clock is trusted, because nothing shows how long the program was not running.
 *
 * The guarded clock follows a clock that is set back at once, because then fewer slots are committed, not more. A clock that was set
 * back by more than a minute may return to its expected time at any time.
 */
export function guardClock({ clock, log }: GuardedClockDeps): GuardedClock {
  /** The last followed time, and the reading of the monotonic clock at that time. */
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

  /** Whether a leap is old enough to be followed. Another leap restarts the minute. */
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

/** A leap that is not followed yet. Times are nanoseconds of the monotonic clock. */
interface Leap {
  readonly aheadNs: bigint
  /** Time at which the first leap was noticed. */
  readonly begunAt: bigint
  /** Time since which the clock has been ahead by `aheadNs`. */
  readonly since: bigint
}

const nsPerSecond = 1_000_000_000n

/** Largest step that counts as a correction. Such a step commits at most 60 seconds of empty slots. */
const allowedNs = 60n * nsPerSecond

/** How long a leap must last before it is followed. An operator has this time to see it in the log and to correct the clock. */
const standsNs = 60n * nsPerSecond

/** Interval in milliseconds at which the time is read, so that a leap is noticed even if nothing else reads the time. */
const everyMs = 1_000

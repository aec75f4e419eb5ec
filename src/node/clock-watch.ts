import { type Clock, nowMs } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { createOutage } from '../lib/outage.ts'
import type { ProtocolParameters } from '../protocol/parameters.ts'
import type { SlotIndex } from '../protocol/primitives.ts'
import { slotEnd, slotOfTime } from '../protocol/slots.ts'

/**
 * A clock that was set back, or is wrong, may be before the end of the newest committed slot: until it is past it again
 * no slot is due, and every block of a right clock is in its future.
 */

/** What watching the clock needs. */
export interface ClockWatchDeps {
  readonly clock: Clock
  readonly log: Pick<Log, 'info' | 'warn'>
  readonly parameters: ProtocolParameters
  /** The newest committed slot. */
  readonly newestSlot: () => SlotIndex
}

/** A watched clock. */
export interface ClockWatch {
  /** Whether the clock lags the newest committed slot by more than clocks may differ. */
  isBehind(): boolean
  close(): void
}

/** Watches a clock; logs when it begins to lag, and when it is right again. */
export function watchClock({ clock, log, parameters, newestSlot }: ClockWatchDeps): ClockWatch {
  const trouble = createOutage(log, { began: 'clock-behind', over: 'clock-right' })
  const { slotDurationInSeconds, minCommittableAge } = parameters
  const allowedSlots = 1 + Math.ceil(allowedSeconds / slotDurationInSeconds)
  const looking = setInterval(look, everyMs)
  looking.unref()
  clock.onJump?.(look)

  function behindSlots(): number {
    return newestSlot() - (slotOfTime(parameters, clock.nowNs()) - minCommittableAge)
  }

  function isBehind(): boolean {
    return behindSlots() > allowedSlots
  }

  function look(): void {
    if (!isBehind()) {
      trouble.recovered()
      return
    }
    const newestDue = slotEnd(parameters, newestSlot() + minCommittableAge)
    const seconds = newestDue - nowMs(clock) / 1_000
    trouble.failed(`${Math.round(seconds)} seconds behind what is committed`)
  }

  return { isBehind, close: () => clearInterval(looking) }
}

/** Clocks of a cluster may differ by a second or two. */
const allowedSeconds = 10

const everyMs = 1_000

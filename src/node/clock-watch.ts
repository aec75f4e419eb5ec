import { type Clock, nowMs } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { createOutage } from '../lib/outage.ts'
import type { ProtocolParameters } from '../protocol/parameters.ts'
import type { SlotIndex } from '../protocol/primitives.ts'
import { slotEnd, slotOfTime } from '../protocol/slots.ts'

/**
 * Watches the clock. A clock that was set back, or is wrong, may be before the end of the newest committed slot. Until it has passed
 * that end again, no slot is due, and every block with a correct issuing time is in the future.
 */

export interface ClockWatchDeps {
  readonly clock: Clock
  readonly log: Pick<Log, 'info' | 'warn'>
  readonly parameters: ProtocolParameters
  readonly newestSlot: () => SlotIndex
}

export interface ClockWatch {
  /** Whether the clock lags the newest committed slot by more than the allowed difference of clocks. */
  isBehind(): boolean
  close(): void
}

/** Watches a clock. Logs when the clock begins to lag, and when it no longer lags. */
export function watchClock({ clock, log, parameters, newestSlot }: ClockWatchDeps): ClockWatch {
  const outage = createOutage(log, { began: 'clock-behind', over: 'clock-right' })
  const { slotDurationInSeconds, minCommittableAge } = parameters
  const allowedSlots = 1 + Math.ceil(allowedSeconds / slotDurationInSeconds)
  const timer = setInterval(check, everyMs)
  timer.unref()
  clock.onJump?.(check)

  function behindSlots(): number {
    return newestSlot() - (slotOfTime(parameters, clock.nowNs()) - minCommittableAge)
  }

  function isBehind(): boolean {
    return behindSlots() > allowedSlots
  }

  function check(): void {
    if (!isBehind()) {
      outage.recovered()
      return
    }
    const newestDue = slotEnd(parameters, newestSlot() + minCommittableAge)
    const seconds = newestDue - nowMs(clock) / 1_000
    outage.failed(`${Math.round(seconds)} seconds behind the newest committed slot`)
  }

  return { isBehind, close: () => clearInterval(timer) }
}

/** Allowed lag in seconds. Clocks of a cluster may differ by one or two seconds. */
const allowedSeconds = 10

const everyMs = 1_000

/** The source of time. Only the composition root and the entry point read it. Other code receives the time as an argument. */
export interface Clock {
  /** Unix time in nanoseconds. */
  nowNs(): bigint
  /** Registers a function that is called after every jump. Only clocks that can jump have this member. */
  readonly onJump?: (handler: () => void) => void
}

/** The clock of a machine, which an operator can set, and its monotonic clock, which cannot be set. */
export interface MachineClock extends Clock {
  /**
   * Nanoseconds since an arbitrary moment. The value never decreases. On Linux and macOS it stands still while the machine is
   * suspended.
   */
  monotonicNs(): bigint
}

/** A clock that a test sets by hand. */
export interface SettableClock extends MachineClock {
  /** Sets the time to a Unix time in nanoseconds, as a correction does. The monotonic clock does not advance. */
  set(ns: bigint): void
  /** Advances both clocks by some nanoseconds. */
  advance(ns: bigint): void
}

const nsPerMs = 1_000_000n

/** The clock of this machine, with a precision of one millisecond. */
export const systemClock: MachineClock = {
  nowNs: () => BigInt(Date.now()) * nsPerMs,
  monotonicNs: () => process.hrtime.bigint(),
}

/** Creates a clock that stands at a Unix time in nanoseconds until it is set or advanced. */
export function createSettableClock(startNs: bigint): SettableClock {
  let now = startNs
  let passed = 0n
  const jumpHandlers: (() => void)[] = []
  const jump = (ns: bigint) => {
    now = ns
    for (const onJump of jumpHandlers) onJump()
  }
  return {
    nowNs: () => now,
    monotonicNs: () => passed,
    onJump: (handler) => void jumpHandlers.push(handler),
    set: jump,
    advance: (ns) => {
      passed += ns
      jump(now + ns)
    },
  }
}

/** Unix time of a clock in whole milliseconds. */
export function nowMs(clock: Clock): number {
  return Number(clock.nowNs() / nsPerMs)
}

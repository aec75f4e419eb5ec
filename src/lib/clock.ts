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

const nsPerMs = 1_000_000n

/** The clock of this machine, with a precision of one millisecond. */
export const systemClock: MachineClock = {
  nowNs: () => BigInt(Date.now()) * nsPerMs,
  monotonicNs: () => process.hrtime.bigint(),
}

/** Unix time of a clock in whole milliseconds. */
export function nowMs(clock: Clock): number {
  return Number(clock.nowNs() / nsPerMs)
}

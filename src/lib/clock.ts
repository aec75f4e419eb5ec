/** Where the time comes from. Only the composition root and the entry point read it; the rest is given a moment. */
export interface Clock {
  /** Unix time in nanoseconds. */
  nowNs(): bigint
  /** Of a clock that jumps: rings after every jump. A clock that runs has none. */
  readonly onJump?: (ring: () => void) => void
}

/** The clock of a machine, which can be set, and a monotonic one, which cannot. */
export interface MachineClock extends Clock {
  /**
   * Nanoseconds since some moment, always forward. Whether it runs while the machine is suspended is the system's affair:
   * on Linux and macOS it does not.
   */
  monotonicNs(): bigint
}

/** A clock that a test sets by hand. */
export interface SettableClock extends MachineClock {
  /** Sets the time to a Unix time in nanoseconds, forwards or back, as a correction does: no time passes. */
  set(ns: bigint): void
  /** Lets some nanoseconds pass. */
  advance(ns: bigint): void
}

const nsPerMs = 1_000_000n

/** The clock of this machine, to the millisecond. */
export const systemClock: MachineClock = {
  nowNs: () => BigInt(Date.now()) * nsPerMs,
  monotonicNs: () => process.hrtime.bigint(),
}

/** A clock that stays at a Unix time in nanoseconds until it is moved. */
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

/** The moment of a clock in whole milliseconds since 1970. */
export function nowMs(clock: Clock): number {
  return Number(clock.nowNs() / nsPerMs)
}

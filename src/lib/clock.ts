/** Where the time comes from. Only the composition root and the entry point read it; the rest is given a moment. */
export interface Clock {
  /** Unix time in nanoseconds. */
  nowNs(): bigint
  /** Of a clock that jumps: rings after every jump. A clock that runs has none. */
  readonly onJump?: (ring: () => void) => void
}

/** A clock that a test sets by hand. */
export interface SettableClock extends Clock {
  /** Moves to a Unix time in nanoseconds, forwards or back. */
  set(ns: bigint): void
  /** Moves forward by some nanoseconds. */
  advance(ns: bigint): void
}

const nsPerMs = 1_000_000n

/** The clock of this machine, to the millisecond. */
export const systemClock: Clock = { nowNs: () => BigInt(Date.now()) * nsPerMs }

/** A clock that stands still at a Unix time in nanoseconds until it is moved. */
export function createSettableClock(startNs: bigint): SettableClock {
  let now = startNs
  const bells: (() => void)[] = []
  const jump = (ns: bigint) => {
    now = ns
    for (const ring of bells) ring()
  }
  return {
    nowNs: () => now,
    onJump: (ring) => void bells.push(ring),
    set: jump,
    advance: (ns) => jump(now + ns),
  }
}

/** The moment of a clock in whole milliseconds since 1970. */
export function nowMs(clock: Clock): number {
  return Number(clock.nowNs() / nsPerMs)
}

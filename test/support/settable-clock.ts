import type { MachineClock } from '../../src/lib/clock.ts'

/** A clock that a test sets by hand. */
export interface SettableClock extends MachineClock {
  /** Sets the time to a Unix time in nanoseconds, as a correction does. The monotonic clock does not advance. */
  set(ns: bigint): void
  /** Advances both clocks by some nanoseconds. */
  advance(ns: bigint): void
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

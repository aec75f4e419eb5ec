import { afterEach, describe, expect, test } from 'vitest'
import { type GuardedClock, guardClock } from '../../src/lib/guarded-clock.ts'
import { createMemoryLog } from '../support/memory-log.ts'
import { createSettableClock } from '../support/settable-clock.ts'

const second = 1_000_000_000n
const start = 1_800_000_000n * second

let guarded: GuardedClock
afterEach(() => guarded.close())

/** Opens a guarded clock. Returns functions for its time in seconds since the start and for the logged events. */
function open() {
  const clock = createSettableClock(start)
  const { log, events } = createMemoryLog(clock)
  guarded = guardClock({ clock, log })
  return {
    /** Sets the clock ahead or back by some seconds. */
    step: (seconds: number) => clock.set(clock.nowNs() + BigInt(seconds) * second),
    pass: (seconds: number) => clock.advance(BigInt(seconds) * second),
    seconds: () => Number((guarded.nowNs() - start) / second),
    logged: () =>
      events().map(({ event, aheadSeconds, outcome }) => [event, aheadSeconds ?? outcome]),
  }
}

describe('a guarded clock', () => {
  test('follows its clock while time passes, for any duration', () => {
    const { pass, seconds, logged } = open()
    pass(86_400)
    expect([seconds(), guarded.hasLeapt(), logged()]).toEqual([86_400, false, []])
  })

  test('follows consecutive corrections of a minute', () => {
    const { step, seconds, logged } = open()
    step(60)
    expect(seconds()).toBe(60)
    step(60)
    expect(seconds()).toBe(120)
    step(-60)
    expect([seconds(), logged()]).toEqual([60, []])
  })

  test('continues by the monotonic clock when its clock leaps, until the leap is undone', () => {
    const { step, pass, seconds, logged } = open()
    step(61)
    expect([seconds(), guarded.hasLeapt()]).toEqual([0, true])
    pass(59)
    expect([seconds(), guarded.hasLeapt()]).toEqual([59, true])
    step(-61)
    expect([seconds(), guarded.hasLeapt()]).toEqual([59, false])
    expect(logged()).toEqual([
      ['clock-leapt', 61],
      ['clock-leap-over', 'undone'],
    ])
  })

  test('follows a leap that has lasted for a minute', () => {
    const { step, pass, seconds, logged } = open()
    step(86_400)
    pass(59)
    expect(seconds()).toBe(59)
    pass(1)
    expect([seconds(), guarded.hasLeapt()]).toEqual([86_460, false])
    pass(10)
    expect(seconds()).toBe(86_470)
    expect(logged()).toEqual([
      ['clock-leapt', 86_400],
      ['clock-leap-over', 'stood'],
    ])
  })

  test('restarts the minute when the clock leaps once more, and logs nothing new', () => {
    const { step, pass, seconds, logged } = open()
    step(3_600)
    pass(40)
    step(3_600)
    pass(40)
    expect(seconds()).toBe(80)
    pass(20)
    expect(seconds()).toBe(7_300)
    expect(logged()).toEqual([
      ['clock-leapt', 3_600],
      ['clock-leap-over', 'stood'],
    ])
  })

  test('follows a leap at once if the operator confirms it, and ignores a confirmation without a leap', () => {
    const { step, seconds, logged } = open()
    guarded.confirm()
    step(3_600)
    expect(seconds()).toBe(0)
    guarded.confirm()
    expect([seconds(), guarded.hasLeapt()]).toEqual([3_600, false])
    step(3_600)
    expect([seconds(), guarded.hasLeapt()], 'the next leap is a new one').toEqual([3_600, true])
    expect(logged()).toEqual([
      ['clock-leapt', 3_600],
      ['clock-leap-over', 'confirmed'],
      ['clock-leapt', 3_600],
    ])
  })

  test('follows a clock that is set back, and its return to the current time', () => {
    const { step, pass, seconds, logged } = open()
    step(-3_600)
    pass(120)
    expect(seconds()).toBe(-3_480)
    step(3_600)
    expect([seconds(), guarded.hasLeapt(), logged()]).toEqual([120, false, []])
  })

  test('does not follow a clock that was set back and then goes beyond its former time', () => {
    const { step, seconds } = open()
    step(-3_600)
    expect(seconds()).toBe(-3_600)
    step(7_200)
    expect([seconds(), guarded.hasLeapt()]).toEqual([0, true])
  })

  test('treats the suspension of a machine as a leap, because the monotonic clock stood still', () => {
    const { step, pass, seconds } = open()
    pass(100)
    step(3_600)
    expect([seconds(), guarded.hasLeapt()]).toEqual([100, true])
    pass(60)
    expect([seconds(), guarded.hasLeapt()]).toEqual([3_760, false])
  })
})

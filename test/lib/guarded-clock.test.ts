import { afterEach, describe, expect, test } from 'vitest'
import { createSettableClock } from '../../src/lib/clock.ts'
import { type GuardedClock, guardClock } from '../../src/lib/guarded-clock.ts'
import { createMemoryLog } from '../support/memory-log.ts'

const second = 1_000_000_000n
const start = 1_800_000_000n * second

let guarded: GuardedClock
afterEach(() => guarded.close())

/** A guarded clock, its time in seconds since the start, and what an operator was told. */
function open() {
  const clock = createSettableClock(start)
  const { log, events } = createMemoryLog(clock)
  guarded = guardClock({ clock, log })
  return {
    /** Somebody sets the clock ahead, or back, by some seconds. */
    step: (seconds: number) => clock.set(clock.nowNs() + BigInt(seconds) * second),
    pass: (seconds: number) => clock.advance(BigInt(seconds) * second),
    seconds: () => Number((guarded.nowNs() - start) / second),
    told: () =>
      events().map(({ event, aheadSeconds, outcome }) => [event, aheadSeconds ?? outcome]),
  }
}

describe('a guarded clock', () => {
  test('follows its clock while time passes, for as long as it may', () => {
    const { pass, seconds, told } = open()
    pass(86_400)
    expect([seconds(), guarded.hasLeapt(), told()]).toEqual([86_400, false, []])
  })

  test('follows corrections of a minute, one after the other', () => {
    const { step, seconds, told } = open()
    step(60)
    expect(seconds()).toBe(60)
    step(60)
    expect(seconds()).toBe(120)
    step(-60)
    expect([seconds(), told()]).toEqual([60, []])
  })

  test('goes on by the monotonic clock when its clock leaps, until that is undone', () => {
    const { step, pass, seconds, told } = open()
    step(61)
    expect([seconds(), guarded.hasLeapt()]).toEqual([0, true])
    pass(59)
    expect([seconds(), guarded.hasLeapt()]).toEqual([59, true])
    step(-61)
    expect([seconds(), guarded.hasLeapt()]).toEqual([59, false])
    expect(told()).toEqual([
      ['clock-leapt', 61],
      ['clock-leap-over', 'undone'],
    ])
  })

  test('follows a leap that has stood for a minute', () => {
    const { step, pass, seconds, told } = open()
    step(86_400)
    pass(59)
    expect(seconds()).toBe(59)
    pass(1)
    expect([seconds(), guarded.hasLeapt()]).toEqual([86_460, false])
    pass(10)
    expect(seconds()).toBe(86_470)
    expect(told()).toEqual([
      ['clock-leapt', 86_400],
      ['clock-leap-over', 'stood'],
    ])
  })

  test('counts the minute anew when the clock leaps once more, and says nothing new', () => {
    const { step, pass, seconds, told } = open()
    step(3_600)
    pass(40)
    step(3_600)
    pass(40)
    expect(seconds()).toBe(80)
    pass(20)
    expect(seconds()).toBe(7_300)
    expect(told()).toEqual([
      ['clock-leapt', 3_600],
      ['clock-leap-over', 'stood'],
    ])
  })

  test('follows a leap at once that the operator confirms, and confirms nothing where there is none', () => {
    const { step, seconds, told } = open()
    guarded.confirm()
    step(3_600)
    expect(seconds()).toBe(0)
    guarded.confirm()
    expect([seconds(), guarded.hasLeapt()]).toEqual([3_600, false])
    step(3_600)
    expect([seconds(), guarded.hasLeapt()], 'the next leap is another').toEqual([3_600, true])
    expect(told()).toEqual([
      ['clock-leapt', 3_600],
      ['clock-leap-over', 'confirmed'],
      ['clock-leapt', 3_600],
    ])
  })

  test('follows a clock that is set back, and its return to where it would be by now', () => {
    const { step, pass, seconds, told } = open()
    step(-3_600)
    pass(120)
    expect(seconds()).toBe(-3_480)
    step(3_600)
    expect([seconds(), guarded.hasLeapt(), told()]).toEqual([120, false, []])
  })

  test('does not follow a clock that was set back to where it never was', () => {
    const { step, seconds } = open()
    step(-3_600)
    expect(seconds()).toBe(-3_600)
    step(7_200)
    expect([seconds(), guarded.hasLeapt()]).toEqual([0, true])
  })

  test('takes a machine that was suspended for one whose clock leapt: the monotonic clock stood still', () => {
    const { step, pass, seconds } = open()
    pass(100)
    step(3_600)
    expect([seconds(), guarded.hasLeapt()]).toEqual([100, true])
    pass(60)
    expect([seconds(), guarded.hasLeapt()]).toEqual([3_760, false])
  })
})

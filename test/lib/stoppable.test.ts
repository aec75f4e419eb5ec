import { describe, expect, test } from 'vitest'
import { stoppable } from '../../src/lib/stoppable.ts'

/** Counts to `last`, then waits until it is stopped. */
function counter(last: number, ended: () => void) {
  return stoppable(async function* (signal) {
    try {
      for (let number = 1; number <= last; number++) yield number
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    } finally {
      ended()
    }
  })
}

describe('stoppable', () => {
  test('returns the values in order', async () => {
    const numbers = counter(2, () => {})
    expect(await numbers.next()).toEqual({ done: false, value: 1 })
    expect(await numbers.next()).toEqual({ done: false, value: 2 })
    await numbers.return?.()
  })

  test('ends while a value is pending', async () => {
    let ended = 0
    const numbers = counter(0, () => ended++)
    const pending = numbers.next()
    expect(await numbers.return?.()).toEqual({ done: true, value: undefined })
    expect(await pending).toEqual({ done: true, value: undefined })
    expect(ended).toBe(1)
  })

  test('ends when its loop is left', async () => {
    let ended = 0
    for await (const number of counter(3, () => ended++)) if (number === 2) break
    expect(ended).toBe(1)
  })

  test('ends before its first value', async () => {
    const numbers = counter(1, () => {})
    await numbers.return?.()
    expect(await numbers.next()).toEqual({ done: true, value: undefined })
  })
})

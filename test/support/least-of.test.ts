import { expect, test } from 'vitest'
import { leastOf } from './least-of.ts'

test('a measurement is repeated until one is below the limit, and at most ten times', async () => {
  const measured: number[] = []
  const next = (values: readonly number[]) => () => {
    const value = values[measured.length % values.length] ?? 0
    measured.push(value)
    return value
  }
  expect(await leastOf(next([9, 5, 4, 1]), 5)).toBe(4)
  expect(measured).toEqual([9, 5, 4])
  measured.length = 0
  expect(await leastOf(next([9, 7, 8]), 5)).toBe(7)
  expect(measured).toHaveLength(10)
  measured.length = 0
  expect(await leastOf(next([9, 7, 1]), 0, 2)).toBe(7)
})

import { expect, test } from 'vitest'
import { createDecodeCache } from '../../src/service/decode-cache.ts'

/** Decoded values of bytes that are read repeatedly. */

const sumOf = (...bytes: number[]) => ({ bytes: Uint8Array.from(bytes), sum: { of: bytes } })

test('a value is decoded once for the same id and bytes, and again for other bytes', () => {
  const decoded = createDecodeCache<string, { of: number[] }>(100_000)
  let count = 0
  const ask = (id: string, { bytes, sum }: ReturnType<typeof sumOf>) =>
    decoded(id, bytes, () => {
      count++
      return sum
    })
  const first = ask('a', sumOf(1, 2))
  expect(ask('a', sumOf(1, 2))).toBe(first)
  expect(count).toBe(1)
  expect(ask('b', sumOf(1, 2)).of).toEqual([1, 2])
  expect(ask('a', sumOf(1, 3)).of).toEqual([1, 3])
  expect(ask('a', sumOf(1, 2)).of).toEqual([1, 2])
  expect(count).toBe(4)
})

test('the least recently used values are evicted', () => {
  const decoded = createDecodeCache<string, number>(10_000)
  let count = 0
  const ask = (n: number) => decoded(`${n}`, new Uint8Array(10), () => ++count)
  for (let n = 0; n < 100; n++) ask(n)
  ask(99)
  expect(count).toBe(100)
  ask(0)
  expect(count).toBe(101)
})

import { expect, test } from 'vitest'
import { createLargeMap } from '../../src/lib/large-map.ts'

test('a large map has the contents of a plain map, in no order', () => {
  const keys = ['', '0x', '0x28', ...Array.from({ length: 5_000 }, (_, i) => keyOf(i))]
  const large = createLargeMap<string, number>()
  const plain = new Map<string, number>()
  for (const map of [large, plain]) {
    for (const [i, key] of keys.entries()) map.set(key, i)
    for (const key of keys.slice(100, 200)) map.set(key, -1)
  }
  expect([...large.keys()]).toHaveLength(plain.size)
  expect(new Map(large)).toEqual(plain)
  expect(new Set(large.keys())).toEqual(new Set(plain.keys()))
  expect([...large.values()].sort()).toEqual([...plain.values()].sort())
  expect(keys.map((key) => large.get(key))).toEqual(keys.map((key) => plain.get(key)))
  expect(large.get(keyOf(6_000))).toBeUndefined()
})

function keyOf(i: number): string {
  return `0x00${(i * 2_654_435_761).toString(16).padStart(16, '0')}`
}

import { expect, test } from 'vitest'
import { createBoundedMap } from '../../src/lib/bounded-map.ts'

test('the oldest goes where there are too many, and what is added again is the newest', () => {
  const newest = createBoundedMap<string, number>(2)
  newest.set('a', 1)
  newest.set('b', 2)
  newest.set('a', 3)
  newest.set('c', 4)
  expect(['a', 'b', 'c'].map(newest.get)).toEqual([3, undefined, 4])
})

test('what is removed leaves its room to others', () => {
  const newest = createBoundedMap<string, number>(2)
  newest.set('a', 1)
  newest.set('b', 2)
  newest.delete('b')
  newest.delete('never there')
  newest.set('c', 3)
  expect(['a', 'b', 'c'].map(newest.get)).toEqual([1, undefined, 3])
})

import { expect, test } from 'vitest'
import { createNewest } from '../../src/lib/newest.ts'

test('the oldest goes where there are too many, and what is added again is the newest', () => {
  const newest = createNewest<string, number>(2)
  newest.add('a', 1)
  newest.add('b', 2)
  newest.add('a', 3)
  newest.add('c', 4)
  expect(['a', 'b', 'c'].map(newest.get)).toEqual([3, undefined, 4])
})

test('what is removed leaves its room to others', () => {
  const newest = createNewest<string, number>(2)
  newest.add('a', 1)
  newest.add('b', 2)
  newest.remove('b')
  newest.remove('never there')
  newest.add('c', 3)
  expect(['a', 'b', 'c'].map(newest.get)).toEqual([1, undefined, 3])
})

import { expect, test } from 'vitest'
import { createAnswerCache } from '../../../src/api/graphql/answer-cache.ts'

/** Computes answers, and notes how often. */
function counting() {
  let count = 0
  const compute = async () => `answer ${++count}`
  return { compute, count: () => count }
}

test('an answer is kept as long as its version is the same', async () => {
  const cache = createAnswerCache(10_000)
  const { compute, count } = counting()
  expect(await cache.getOrCompute('a', '1', compute)).toBe('answer 1')
  expect(await cache.getOrCompute('a', '1', compute)).toBe('answer 1')
  expect(await cache.getOrCompute('a', '2', compute)).toBe('answer 2')
  expect(await cache.getOrCompute('b', '2', compute)).toBe('answer 3')
  expect(await cache.getOrCompute('a', '2', compute)).toBe('answer 2')
  expect(count()).toBe(3)
})

test('who asks for the same at the same time waits for one answer, and those of another version do not', async () => {
  const cache = createAnswerCache(10_000)
  const { compute, count } = counting()
  const asked = [
    cache.getOrCompute('a', '1', compute),
    cache.getOrCompute('a', '1', compute),
    cache.getOrCompute('a', '2', compute),
  ]
  expect(await Promise.all(asked)).toEqual(['answer 1', 'answer 1', 'answer 2'])
  expect(count()).toBe(2)
})

test('a failure is not kept', async () => {
  const cache = createAnswerCache(10_000)
  const fail = () => Promise.reject(new Error('away'))
  await expect(cache.getOrCompute('a', '1', fail)).rejects.toThrow('away')
  expect(await cache.getOrCompute('a', '1', async () => 'there')).toBe('there')
})

test('the least recently asked are dropped when all have too many characters, and one that is too long is not kept', async () => {
  const cache = createAnswerCache(3_000)
  const long = async () => 'x'.repeat(1_000)
  const { compute, count } = counting()
  await cache.getOrCompute('a', '1', compute)
  await cache.getOrCompute('b', '1', long)
  await cache.getOrCompute('c', '1', long)
  await cache.getOrCompute('a', '1', compute)
  await cache.getOrCompute('d', '1', async () => 'x'.repeat(10_000))
  await cache.getOrCompute('a', '1', compute)
  expect(count()).toBe(1)
  await cache.getOrCompute('e', '1', long)
  await cache.getOrCompute('f', '1', long)
  await cache.getOrCompute('g', '1', long)
  await cache.getOrCompute('a', '1', compute)
  expect(count()).toBe(2)
})

import { expect, test } from 'vitest'
import { type AnswerCache, createAnswerCache } from '../../../src/api/graphql/answer-cache.ts'

/** Computes answers, and notes how often. */
function counting() {
  let count = 0
  const compute = async () => `answer ${++count}`
  return { compute, count: () => count }
}

/** Asks for an answer of a version. */
function ask(
  cache: AnswerCache,
  key: string,
  version: string | undefined,
  compute: () => Promise<string>,
) {
  return cache.getOrCompute(key, { version: async () => version, compute })
}

test('an answer is kept from the second time on, as long as its version is the same', async () => {
  const cache = createAnswerCache(10_000)
  const { compute, count } = counting()
  expect(await ask(cache, 'a', '1', compute)).toBe('answer 1')
  expect(await ask(cache, 'a', '1', compute)).toBe('answer 2')
  expect(await ask(cache, 'a', '1', compute)).toBe('answer 2')
  expect(await ask(cache, 'a', '2', compute)).toBe('answer 3')
  expect(await ask(cache, 'b', '2', compute)).toBe('answer 4')
  expect(await ask(cache, 'a', '2', compute)).toBe('answer 3')
  expect(count()).toBe(4)
})

test('what has no version is never kept', async () => {
  const cache = createAnswerCache(10_000)
  const { compute, count } = counting()
  for (let n = 0; n < 4; n++) await ask(cache, 'a', undefined, compute)
  expect(count()).toBe(4)
})

test('who asks for the same at the same time waits for one answer, and those of another version do not', async () => {
  const cache = createAnswerCache(10_000)
  const { compute, count } = counting()
  await ask(cache, 'a', '1', compute)
  const asked = [
    ask(cache, 'a', '1', compute),
    ask(cache, 'a', '1', compute),
    ask(cache, 'a', '2', compute),
  ]
  expect(await Promise.all(asked)).toEqual(['answer 2', 'answer 2', 'answer 3'])
  expect(count()).toBe(3)
})

test('a failure is not kept', async () => {
  const cache = createAnswerCache(10_000)
  const fail = () => Promise.reject(new Error('away'))
  await expect(ask(cache, 'a', '1', fail)).rejects.toThrow('away')
  await expect(ask(cache, 'a', '1', fail)).rejects.toThrow('away')
  expect(await ask(cache, 'a', '1', async () => 'there')).toBe('there')
})

test('the least recently asked are dropped when all have too many characters, and one that is too long is not kept', async () => {
  const cache = createAnswerCache(3_000)
  const { compute, count } = counting()
  const fill = async (key: string, length: number) => {
    for (let n = 0; n < 2; n++) await ask(cache, key, '1', async () => 'x'.repeat(length))
  }
  await ask(cache, 'a', '1', compute)
  await ask(cache, 'a', '1', compute)
  await fill('b', 1_000)
  await fill('c', 1_000)
  await ask(cache, 'a', '1', compute)
  await fill('d', 10_000)
  await ask(cache, 'a', '1', compute)
  expect(count()).toBe(2)
  for (const key of ['e', 'f', 'g']) await fill(key, 1_000)
  await ask(cache, 'a', '1', compute)
  expect(count()).toBe(3)
})

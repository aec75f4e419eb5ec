import { crc32 } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import {
  type CachedResponse,
  createResponseCache,
  type RequestKey,
  type ResponseCache,
  type ResponseCacheOptions,
  type Validity,
} from '../../src/api/response-cache.ts'
import { until } from '../support/until.ts'

/** Computes answers, and notes how often. */
function counting() {
  let count = 0
  const compute = async () => `answer ${++count}`
  return { compute, count: () => count }
}

function askedBy(key: string): RequestKey {
  return { method: 'POST', text: Buffer.from(key) }
}

/** The version that is read, of each cache made with it. */
interface Versions {
  now: string | undefined
  reads: number
}

/** A cache whose versions only a read can tell. */
function cacheOf(maxBytes: number, options: Partial<ResponseCacheOptions> = {}) {
  return createResponseCache({
    maxBytes,
    changes: async () => undefined,
    databaseVersion: async () => undefined,
    nowMs: () => 0,
    ...options,
  })
}

const versionsOf = new WeakMap<ResponseCache, Versions>()

/** Asks for an answer of a version, which is the version of all of the cache from now on. */
async function ask(
  cache: ResponseCache,
  key: string,
  version: string | undefined,
  compute: () => Promise<string>,
) {
  const versions = versionsOf.get(cache) ?? { now: version, reads: 0 }
  versionsOf.set(cache, versions)
  versions.now = version
  const readVersion = () => async () => {
    versions.reads++
    return versions.now
  }
  const answer = await cache.getOrCompute(askedBy(key), () => ({ version: readVersion, compute }))
  return bodyOf(answer)
}

function bodyOf(answer: string | CachedResponse | undefined): string | undefined {
  return typeof answer === 'object' ? answer.body.toString() : answer
}

test('an answer is kept from the second time on, as long as its version is the same', async () => {
  const cache = cacheOf(10_000)
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
  const cache = cacheOf(10_000)
  const { compute, count } = counting()
  for (let n = 0; n < 4; n++) await ask(cache, 'a', undefined, compute)
  expect(count()).toBe(4)
})

test('who asks for the same at the same time waits for one answer, with one read of the version after each was asked', async () => {
  const cache = cacheOf(10_000)
  const { compute, count } = counting()
  await ask(cache, 'a', '1', compute)
  const askAll = () => Promise.all([1, 2, 3, 4].map(() => ask(cache, 'a', '1', compute)))
  expect(await askAll()).toEqual(Array(4).fill('answer 2'))
  expect(await askAll()).toEqual(Array(4).fill('answer 2'))
  expect(count()).toBe(2)
  // Of each four the first began one, and the others wait for the next.
  expect(versionsOf.get(cache)?.reads).toBe(4)
})

test('who asks after a change waits for a version that is read after it', async () => {
  const { compute } = counting()
  const reads: ((version: string) => void)[] = []
  const version = () => () => new Promise<string>((resolve) => reads.push(resolve))
  const other = cacheOf(10_000)
  const askOther = () => other.getOrCompute(askedBy('a'), () => ({ version, compute }))
  await askOther()
  const asked = askOther()
  await until(() => reads.length === 1)
  const later = askOther()
  reads[0]?.('before')
  await asked
  await until(() => reads.length === 2)
  reads[1]?.('after')
  const [first, second] = await Promise.all([asked, later])
  expect(bodyOf(first)).not.toBe(bodyOf(second))
})

test('the version is read only where the database has changed', async () => {
  let changes = 1
  const versions = { now: '1', reads: 0 }
  const cache = cacheOf(10_000, { changes: async () => changes })
  const version = () => async () => {
    versions.reads++
    return versions.now
  }
  const { compute } = counting()
  const answer = async () =>
    bodyOf(await cache.getOrCompute(askedBy('a'), () => ({ version, compute })))
  expect([await answer(), await answer(), await answer()]).toEqual([
    'answer 1',
    'answer 2',
    'answer 2',
  ])
  expect(versions.reads).toBe(1)
  changes = 2
  expect([await answer(), await answer()]).toEqual(['answer 2', 'answer 2'])
  expect(versions.reads).toBe(2)
  Object.assign(versions, { now: '2' })
  changes = 3
  expect([await answer(), await answer()]).toEqual(['answer 3', 'answer 3'])
  expect(versions.reads).toBe(3)
})

test('of two requests of one hash each has its own answer', async () => {
  const cache = cacheOf(10_000)
  // CRC-32 is the same for both.
  const [one, other] = ['plumless', 'buckeroo'] as const
  expect(crc32(one)).toBe(crc32(other))
  for (let n = 0; n < 3; n++) {
    expect(await ask(cache, one, '1', async () => 'of one')).toBe('of one')
    expect(await ask(cache, other, '1', async () => 'of other')).toBe('of other')
  }
})

test('a failure is not kept', async () => {
  const cache = cacheOf(10_000)
  const fail = () => Promise.reject(new Error('away'))
  await expect(ask(cache, 'a', '1', fail)).rejects.toThrow('away')
  await expect(ask(cache, 'a', '1', fail)).rejects.toThrow('away')
  expect(await ask(cache, 'a', '1', async () => 'there')).toBe('there')
})

test('the least recently asked are dropped when all have too many characters, and one that is too long is not kept', async () => {
  const cache = cacheOf(5_000)
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

describe('an answer that has no version of its own', () => {
  /** Asks for what lasts so long; `database` and `nowMs` are what they are then. */
  function asking(validity: Validity) {
    const world = { database: '1' as string | undefined, nowMs: 10_000 }
    const cache = cacheOf(10_000, {
      databaseVersion: async () => world.database,
      nowMs: () => world.nowMs,
    })
    const { compute, count } = counting()
    const question = () => ({ validity: () => validity, compute })
    const answer = async () => bodyOf(await cache.getOrCompute(askedBy('a'), question))
    return { world, answer, count }
  }

  test('is kept as long as the database does not change', async () => {
    const { world, answer, count } = asking('UNTIL_CHANGE')
    for (const _ of [1, 2]) await answer()
    world.nowMs += 3_600_000
    expect(await answer()).toBe('answer 2')
    world.database = '2'
    expect([await answer(), await answer()]).toEqual(['answer 3', 'answer 3'])
    expect(count()).toBe(3)
  })

  test('is not kept where nothing says whether the database changes', async () => {
    const { world, answer, count } = asking('UNTIL_CHANGE')
    world.database = undefined
    for (const _ of [1, 2, 3]) await answer()
    expect(count()).toBe(3)
  })

  test('is kept for its second where it depends on the time', async () => {
    const { world, answer, count } = asking('UNTIL_NEXT_SECOND')
    for (const _ of [1, 2]) await answer()
    world.nowMs = 10_999
    expect(await answer()).toBe('answer 2')
    world.nowMs = 11_000
    expect([await answer(), await answer()]).toEqual(['answer 3', 'answer 3'])
    world.database = '2'
    expect(await answer()).toBe('answer 4')
    expect(count()).toBe(4)
  })

  test('is not kept, and not given to others, where it depends on more', async () => {
    const { answer, count } = asking('NOT')
    await answer()
    const answers = await Promise.all([1, 2, 3].map(answer))
    expect(new Set(answers).size).toBe(3)
    expect(count()).toBe(4)
  })

  test('is computed by each of those who wait for one that turns out to depend on more', async () => {
    const validity = { now: 'UNTIL_CHANGE' as Validity }
    let database = 1
    const cache = cacheOf(10_000, { databaseVersion: async () => String(database) })
    const { compute } = counting()
    const question = () => ({ validity: () => validity.now, compute })
    const answer = async () => bodyOf(await cache.getOrCompute(askedBy('a'), question))
    for (const _ of [1, 2]) await answer()
    database = 2
    validity.now = 'NOT'
    expect(new Set(await Promise.all([1, 2, 3].map(answer))).size).toBe(3)
  })
})

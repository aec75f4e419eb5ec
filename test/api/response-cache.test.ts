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

/** Computes responses and counts the computations. */
function counting() {
  let count = 0
  const compute = async () => `answer ${++count}`
  return { compute, count: () => count }
}

function requestOf(key: string): RequestKey {
  return { method: 'POST', text: Buffer.from(key) }
}

/** The current version of a cache, and how often it was read. */
interface Versions {
  now: string | undefined
  reads: number
}

/** Creates a cache that detects a change only by a read of the version. */
function cacheOf(maxBytes: number, options: Partial<ResponseCacheOptions> = {}) {
  return createResponseCache({
    maxBytes,
    databaseVersion: () => undefined,
    logVersion: () => undefined,
    nowMs: () => 0,
    ...options,
  })
}

const versionsOf = new WeakMap<ResponseCache, Versions>()

/** Requests a response; from now on the whole cache has the given version. */
async function request(
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
  const answer = await cache.getOrCompute(requestOf(key), () => ({ version: readVersion, compute }))
  return bodyOf(answer)
}

function bodyOf(answer: string | CachedResponse | undefined): string | undefined {
  return typeof answer === 'object' ? answer.body.toString() : answer
}

test('a response is cached from the second request on, as long as its version is the same', async () => {
  const cache = cacheOf(10_000)
  const { compute, count } = counting()
  expect(await request(cache, 'a', '1', compute)).toBe('answer 1')
  expect(await request(cache, 'a', '1', compute)).toBe('answer 2')
  expect(await request(cache, 'a', '1', compute)).toBe('answer 2')
  expect(await request(cache, 'a', '2', compute)).toBe('answer 3')
  expect(await request(cache, 'b', '2', compute)).toBe('answer 4')
  expect(await request(cache, 'a', '2', compute)).toBe('answer 3')
  expect(count()).toBe(4)
})

test('a response without a version is never cached', async () => {
  const cache = cacheOf(10_000)
  const { compute, count } = counting()
  for (let n = 0; n < 4; n++) await request(cache, 'a', undefined, compute)
  expect(count()).toBe(4)
})

test('concurrent equal requests share one response, and each waits for a read of the version that begins after it', async () => {
  const cache = cacheOf(10_000)
  const { compute, count } = counting()
  await request(cache, 'a', '1', compute)
  const requestAll = () => Promise.all([1, 2, 3, 4].map(() => request(cache, 'a', '1', compute)))
  expect(await requestAll()).toEqual(Array(4).fill('answer 2'))
  expect(await requestAll()).toEqual(Array(4).fill('answer 2'))
  expect(count()).toBe(2)
  // Each of the first requests reads by itself. Later, the first of four starts a read, and the other three share the next one.
  expect(versionsOf.get(cache)?.reads).toBe(4 + 2)
})

test('a request after a change waits for a version that is read after it', async () => {
  const { compute } = counting()
  const reads: ((version: string) => void)[] = []
  const version = () => () => new Promise<string>((resolve) => reads.push(resolve))
  const other = cacheOf(10_000)
  const requestOther = () => other.getOrCompute(requestOf('a'), () => ({ version, compute }))
  await requestOther()
  const earlier = requestOther()
  await until(() => reads.length === 1)
  const later = requestOther()
  reads[0]?.('before')
  await earlier
  await until(() => reads.length === 2)
  reads[1]?.('after')
  const [first, second] = await Promise.all([earlier, later])
  expect(bodyOf(first)).not.toBe(bodyOf(second))
})

test('the version of a cached response is read again only after a change of the log', async () => {
  let log = '1'
  const versions = { now: '1', reads: 0 }
  const cache = cacheOf(10_000, { logVersion: async () => log })
  const version = () => async () => {
    versions.reads++
    return versions.now
  }
  const { compute } = counting()
  const answer = async () =>
    bodyOf(await cache.getOrCompute(requestOf('a'), () => ({ version, compute })))
  const answers = async (count: number) => {
    const all: unknown[] = []
    for (let n = 0; n < count; n++) all.push(await answer())
    return all
  }
  expect(await answers(3)).toEqual(['answer 1', 'answer 2', 'answer 2'])
  expect(versions.reads).toBe(1)
  log = '2'
  expect(await answers(2)).toEqual(['answer 2', 'answer 2'])
  expect(versions.reads).toBe(2)
  Object.assign(versions, { now: '2' })
  log = '3'
  expect(await answers(2)).toEqual(['answer 3', 'answer 3'])
  expect(versions.reads).toBe(3)
})

test('two requests with the same hash have separate responses', async () => {
  const cache = cacheOf(10_000)
  // Both have the same CRC-32.
  const [one, other] = ['plumless', 'buckeroo'] as const
  expect(crc32(one)).toBe(crc32(other))
  for (let n = 0; n < 3; n++) {
    expect(await request(cache, one, '1', async () => 'of one')).toBe('of one')
    expect(await request(cache, other, '1', async () => 'of other')).toBe('of other')
  }
})

test('an error is not cached', async () => {
  const cache = cacheOf(10_000)
  const fail = () => Promise.reject(new Error('away'))
  await expect(request(cache, 'a', '1', fail)).rejects.toThrow('away')
  await expect(request(cache, 'a', '1', fail)).rejects.toThrow('away')
  expect(await request(cache, 'a', '1', async () => 'there')).toBe('there')
})

test('the least recently used responses are evicted beyond the maximum size, and a larger response is not cached', async () => {
  const cache = cacheOf(5_000)
  const { compute, count } = counting()
  const fill = async (key: string, length: number) => {
    for (let n = 0; n < 2; n++) await request(cache, key, '1', async () => 'x'.repeat(length))
  }
  await request(cache, 'a', '1', compute)
  await request(cache, 'a', '1', compute)
  await fill('b', 1_000)
  await fill('c', 1_000)
  await request(cache, 'a', '1', compute)
  await fill('d', 10_000)
  await request(cache, 'a', '1', compute)
  expect(count()).toBe(2)
  for (const key of ['e', 'f', 'g']) await fill(key, 1_000)
  await request(cache, 'a', '1', compute)
  expect(count()).toBe(3)
})

describe('a response without a version of its own', () => {
  /** Creates a cache for responses of one validity; `world` has the version of the database and the time. */
  function cacheOfLasting(validity: Validity) {
    const world = { database: '1' as string | undefined, nowMs: 10_000 }
    const cache = cacheOf(10_000, {
      databaseVersion: async () => world.database,
      nowMs: () => world.nowMs,
    })
    const { compute, count } = counting()
    const question = () => ({ validity: () => validity, compute })
    const answer = async () => bodyOf(await cache.getOrCompute(requestOf('a'), question))
    return { world, answer, count }
  }

  test('is cached as long as the database does not change', async () => {
    const { world, answer, count } = cacheOfLasting('UNTIL_CHANGE')
    for (const _ of [1, 2]) await answer()
    world.nowMs += 3_600_000
    expect(await answer()).toBe('answer 2')
    world.database = '2'
    expect([await answer(), await answer()]).toEqual(['answer 3', 'answer 3'])
    expect(count()).toBe(3)
  })

  test('is not cached when the database has no version', async () => {
    const { world, answer, count } = cacheOfLasting('UNTIL_CHANGE')
    world.database = undefined
    for (const _ of [1, 2, 3]) await answer()
    expect(count()).toBe(3)
  })

  test('is cached until the next second when it depends on the time', async () => {
    const { world, answer, count } = cacheOfLasting('UNTIL_NEXT_SECOND')
    for (const _ of [1, 2]) await answer()
    world.nowMs = 10_999
    expect(await answer()).toBe('answer 2')
    world.nowMs = 11_000
    expect([await answer(), await answer()]).toEqual(['answer 3', 'answer 3'])
    world.database = '2'
    expect(await answer()).toBe('answer 4')
    expect(count()).toBe(4)
  })

  test('is not cached in the next second when its computation began in this one', async () => {
    const world = { nowMs: 10_999 }
    const cache = cacheOf(10_000, { databaseVersion: () => '1', nowMs: () => world.nowMs })
    const compute = async () => {
      world.nowMs += 1
      return `at ${world.nowMs}`
    }
    const question = () => ({ validity: (): Validity => 'UNTIL_NEXT_SECOND', compute })
    const answer = async () => bodyOf(await cache.getOrCompute(requestOf('a'), question))
    await answer()
    world.nowMs = 10_999
    expect([await answer(), await answer()]).toEqual(['at 11000', 'at 11001'])
  })

  test('is neither cached nor shared when it depends on more', async () => {
    const { answer, count } = cacheOfLasting('NOT')
    await answer()
    const answers = await Promise.all([1, 2, 3].map(answer))
    expect(new Set(answers).size).toBe(3)
    expect(count()).toBe(4)
  })

  test('is computed for each waiting request when it turns out to depend on more', async () => {
    const validity = { now: 'UNTIL_CHANGE' as Validity }
    let database = 1
    const cache = cacheOf(10_000, { databaseVersion: async () => String(database) })
    const { compute } = counting()
    const question = () => ({ validity: () => validity.now, compute })
    const answer = async () => bodyOf(await cache.getOrCompute(requestOf('a'), question))
    for (const _ of [1, 2]) await answer()
    database = 2
    validity.now = 'NOT'
    expect(new Set(await Promise.all([1, 2, 3].map(answer))).size).toBe(3)
  })
})

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { createDocuments } from '../../../../src/api/graphql/execution/documents.ts'
import { maxCachedCharacters } from '../../../../src/api/graphql/execution/limits.ts'
import {
  createRepeatedTextCache,
  createTextCache,
} from '../../../../src/api/graphql/execution/text-cache.ts'
import { schema } from '../../../../src/api/graphql/schema.ts'
import { createGraphqlServer } from '../../../../src/api/graphql/server.ts'
import { systemClock } from '../../../../src/lib/clock.ts'
import { fullShare } from '../../../support/full-share.ts'
import { createMemoryLog } from '../../../support/memory-log.ts'

describe('values by text', () => {
  const text = (sign: string) => sign.repeat(900)

  test('are cached up to a number of characters, and the least recently used are evicted first', () => {
    const cache = createTextCache<number>(2_000)
    cache.set(text('a'), 1)
    cache.set(text('b'), 2)
    expect(cache.get(text('a'))).toBe(1)
    cache.set(text('c'), 3)
    expect(['a', 'b', 'c'].map((sign) => cache.get(text(sign)))).toEqual([1, undefined, 3])
  })

  test('replace each other and use no more space', () => {
    const cache = createTextCache<number>(2_000)
    for (let n = 0; n < 10; n++) cache.set(text('a'), n)
    cache.set(text('b'), 10)
    expect([cache.get(text('a')), cache.get(text('b'))]).toEqual([9, 10])
  })

  test('are not cached if the text alone is too long, and nothing is evicted for it', () => {
    const cache = createTextCache<number>(2_000)
    cache.set(text('a'), 1)
    cache.set('b'.repeat(2_000), 2)
    expect([cache.get(text('a')), cache.get('b'.repeat(2_000))]).toEqual([1, undefined])
  })

  test('of a short text have a size as well', () => {
    const cache = createTextCache<number>(2_000)
    for (let n = 0; n < 10_000; n++) cache.set(String(n), n)
    const cached = Array.from({ length: 10_000 }, (_, n) => cache.get(String(n)))
    expect(cached.filter((value) => value !== undefined).length).toBeLessThanOrEqual(20)
  })
})

describe('values of texts that are set repeatedly', () => {
  test('are cached from the second time on, and texts that are set once evict none of them', () => {
    const cache = createRepeatedTextCache<number>(200_000)
    const often = 'a'.repeat(900)
    for (const value of [1, 2]) cache.set(often, value)
    // A request that fails asks for its value again.
    cache.set('once', 3)
    expect(cache.get('once')).toBe(3)
    for (let n = 0; n < 1_000; n++) cache.set(`${n} ${'b'.repeat(900)}`, n)
    expect([cache.get(often), cache.get('once')]).toEqual([2, undefined])
    const long = 'c'.repeat(5_000)
    cache.set(long, 4)
    for (let n = 0; n < 1_000; n++) cache.set(`${n} ${'d'.repeat(900)}`, n)
    expect(cache.get(long)).toBe(4)
  })
})

test('many long documents, each sent once, are not cached', () => {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  const heap = () => {
    collect()
    return process.memoryUsage().heapUsed
  }
  const { getEnveloped } = createGraphqlServer({
    schema,
    log: createMemoryLog(systemClock).log,
    documents: createDocuments(),
  })
  const { parse } = getEnveloped({ share: fullShare() })
  const numbers = Array.from({ length: 4_900 }, (_, n) => 10_000 + n).join(' ')
  const before = heap()
  for (let n = 0; n < 240; n++)
    parse(`query Q${n} { inspectBlock(input: { json: [${numbers}] }) { __typename } }`)
  // From 7 MB of text. The documents that may be cached take 46 bytes a character; yoga by itself cached all, which is six times as much.
  expect(heap() - before).toBeLessThan(70 * maxCachedCharacters)
})

test('a document that is sent again is parsed once, and its error is the same', () => {
  const { getEnveloped } = createGraphqlServer({
    schema,
    log: createMemoryLog(systemClock).log,
    documents: createDocuments(),
  })
  const parse = (text: string) => getEnveloped({ share: fullShare() }).parse(text)
  expect(parse('{ __typename }')).toBe(parse('{ __typename }'))
  const refusalOf = (text: string) => {
    try {
      return parse(text)
    } catch (refusal) {
      return refusal
    }
  }
  expect(refusalOf('{ a')).toMatchObject({ extensions: { code: 'GRAPHQL_PARSE_FAILED' } })
  expect(refusalOf('{ a')).toBe(refusalOf('{ a'))
})

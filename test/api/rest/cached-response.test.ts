import { expect, test } from 'vitest'
import { createResponseCache } from '../../../src/api/response-cache.ts'
import { cachedResponse } from '../../../src/api/rest/cached-response.ts'
import { json, type RouteResponse } from '../../../src/api/rest/response.ts'

/** Responses of REST that are cached while their version is unchanged. */

/** Creates a route with numbered responses, and a cache for it. */
function countingRoute(status = 200) {
  const cache = createResponseCache({
    maxBytes: 10_000,
    databaseVersion: () => undefined,
    logVersion: () => undefined,
    nowMs: Date.now,
  })
  const state = { version: '1', answers: 0 }
  const request = (target: string) =>
    cachedResponse(cache, {
      target,
      version: () => async () => state.version,
      answer: async () => json(status, { answer: ++state.answers }),
    })
  return { state, request }
}

function textOf(response: RouteResponse): string {
  return 'body' in response ? Buffer.from(response.body).toString() : ''
}

test('a response is computed again only after a change of its version', async () => {
  const { state, request } = countingRoute()
  const texts: string[] = []
  for (const version of ['1', '1', '1', '2', '2', '2']) {
    state.version = version
    texts.push(textOf(await request('/a')))
  }
  // The first response is not cached.
  expect(texts.map((text) => JSON.parse(text).answer)).toEqual([1, 2, 2, 3, 3, 3])
})

test('a cached response has a tag and a type, and another target has another response', async () => {
  const { request } = countingRoute()
  for (const path of ['/a', '/a', '/b', '/b']) await request(path)
  const [one, other] = [await request('/a'), await request('/b')]
  expect(one.headers).toMatchObject({ 'content-type': 'application/json; charset=utf-8' })
  expect(one.headers.etag).toMatch(/^W\/"/)
  expect([textOf(one), textOf(other)]).toEqual(['{"answer":2}', '{"answer":4}'])
})

test('a refusal is returned as it is, and never cached', async () => {
  const { state, request } = countingRoute(410)
  const responses = [await request('/a'), await request('/a'), await request('/a')]
  expect(responses.map(({ status }) => status)).toEqual([410, 410, 410])
  expect(state.answers).toBe(3)
})

test('concurrent requests get the same response', async () => {
  const { state, request } = countingRoute()
  await request('/a')
  const answers = await Promise.all([request('/a'), request('/a'), request('/a')])
  expect(new Set(answers.map(textOf))).toEqual(new Set(['{"answer":2}']))
  expect(state.answers).toBe(2)
})

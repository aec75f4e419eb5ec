import { expect, test } from 'vitest'
import { createResponseCache } from '../../../src/api/response-cache.ts'
import { cachedResponse } from '../../../src/api/rest/cached-response.ts'
import { json, type RouteResponse } from '../../../src/api/rest/response.ts'

/** Answers of REST that are kept while their version is the same. */

/** A route whose answers are numbered, and a cache of its own. */
function countingRoute(status = 200) {
  const kept = createResponseCache({
    maxBytes: 10_000,
    changes: async () => undefined,
    databaseVersion: async () => undefined,
    nowMs: Date.now,
  })
  const state = { version: '1', answers: 0 }
  const ask = (target: string) =>
    cachedResponse(kept, {
      target,
      version: () => async () => state.version,
      answer: async () => json(status, { answer: ++state.answers }),
    })
  return { state, ask }
}

function textOf(response: RouteResponse): string {
  return 'body' in response ? Buffer.from(response.body).toString() : ''
}

test('an answer is made anew only where its version is another one', async () => {
  const { state, ask } = countingRoute()
  const texts: string[] = []
  for (const version of ['1', '1', '1', '2', '2', '2']) {
    state.version = version
    texts.push(textOf(await ask('/a')))
  }
  // What is asked for the first time is not kept.
  expect(texts.map((text) => JSON.parse(text).answer)).toEqual([1, 2, 2, 3, 3, 3])
})

test('it has its tag and its type, and another target has another answer', async () => {
  const { ask } = countingRoute()
  for (const path of ['/a', '/a', '/b', '/b']) await ask(path)
  const [one, other] = [await ask('/a'), await ask('/b')]
  expect(one.headers).toMatchObject({ 'content-type': 'application/json; charset=utf-8' })
  expect(one.headers.etag).toMatch(/^W\/"/)
  expect([textOf(one), textOf(other)]).toEqual(['{"answer":2}', '{"answer":4}'])
})

test('a refusal is answered as it is, and never kept', async () => {
  const { state, ask } = countingRoute(410)
  const answered = [await ask('/a'), await ask('/a'), await ask('/a')]
  expect(answered.map(({ status }) => status)).toEqual([410, 410, 410])
  expect(state.answers).toBe(3)
})

test('who asks while it is made gets the same answer', async () => {
  const { state, ask } = countingRoute()
  await ask('/a')
  const answers = await Promise.all([ask('/a'), ask('/a'), ask('/a')])
  expect(new Set(answers.map(textOf))).toEqual(new Set(['{"answer":2}']))
  expect(state.answers).toBe(2)
})

import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rest } from '../../support/rest.ts'

/** All tests of routes use this helper, so it must be able to fail. */

interface FakeResponse {
  readonly status: number
  readonly headers?: Record<string, string>
  readonly body?: string
}

let fake: FakeResponse
let server: Server
let url: string
beforeAll(async () => {
  server = createServer((_request, response) => {
    const { status, headers = {}, body } = fake
    const type = body === undefined ? {} : { 'content-type': 'application/json; charset=utf-8' }
    response.writeHead(status, { ...type, ...headers })
    response.end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close())

const healthy = JSON.stringify({ isHealthy: true, reasons: [], role: 'writer', term: 1 })
const wrong = JSON.stringify({ error: { code: 400, message: 'no' } })

describe('the helper accepts', () => {
  const rows: readonly (readonly [string, string, FakeResponse])[] = [
    ['a documented response', '/health', { status: 200, body: healthy }],
    ['a refusal', '/health', { status: 400, body: wrong }],
    ['a 304 response', '/health', { status: 304, headers: { etag: '"1"' } }],
    [
      'a header that every response may have',
      '/health',
      { status: 503, headers: { vary: 'x' }, body: healthy },
    ],
    ['an error for an unknown path', '/nowhere', { status: 404, body: wrong }],
  ]
  test.each(rows)('%s', async (_name, path, answer) => {
    fake = answer
    expect((await rest(url + path)).status).toBe(answer.status)
  })
})

describe('the helper fails on', () => {
  const extra = JSON.stringify({
    isHealthy: true,
    reasons: [],
    role: 'writer',
    term: 1,
    isHappy: true,
  })
  const inner = JSON.stringify({ error: { code: 400, message: 'no', why: 'so' } })
  const rows: readonly (readonly [string, string, string, FakeResponse])[] = [
    ['an undocumented status', 'GET', '/health', { status: 201, body: healthy }],
    [
      'an undocumented header',
      'GET',
      '/health',
      { status: 200, headers: { 'x-more': '1' }, body: healthy },
    ],
    [
      'an undocumented header of HEAD',
      'HEAD',
      '/health',
      { status: 200, headers: { 'x-more': '1' } },
    ],
    ['an undocumented member', 'GET', '/health', { status: 200, body: extra }],
    ['an undocumented nested member', 'GET', '/health', { status: 400, body: inner }],
    ['a missing member', 'GET', '/health', { status: 200, body: '{}' }],
    [
      'a member of another type',
      'GET',
      '/health',
      { status: 200, body: healthy.replace('true', '"yes"') },
    ],
    [
      'another content type',
      'GET',
      '/health',
      { status: 200, headers: { 'content-type': 'text/plain' }, body: healthy },
    ],
    [
      'an undocumented header of a 304 response',
      'GET',
      '/health',
      { status: 304, headers: { 'x-more': '1' } },
    ],
    ['an undocumented path', 'GET', '/nowhere', { status: 200, body: healthy }],
    ['an undocumented method', 'POST', '/health', { status: 200, body: healthy }],
    ['an error of another form', 'GET', '/nowhere', { status: 404, body: '{"code":404}' }],
  ]
  test.each(rows)('%s', async (_name, method, path, answer) => {
    fake = answer
    await expect(rest(url + path, { method })).rejects.toThrow('in the OpenAPI document')
  })
})

test('no test of an interface requests a route without the helper', () => {
  const folder = new URL('../', import.meta.url)
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const direct = files
    // The pages and files of the explorer are not routes.
    .filter((file) => file.endsWith('.ts') && file !== 'explorer.test.ts')
    .flatMap((file) => {
      const lines = readFileSync(new URL(file, folder), 'utf8').split('\n')
      // The other requests are for GraphQL, and for the root, which leads to it.
      const requests = lines.filter(
        (line) => /\bfetch\((?!gateway\.url,)/.test(line) && !line.includes('/graphql'),
      )
      return requests.map((line) => `${file}: ${line.trim()}`)
    })
  expect(direct).toEqual([])
})

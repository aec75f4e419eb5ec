import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rest } from '../../support/rest.ts'

/** The helper that all tests of routes go through is no good if it cannot fail. */

interface Lie {
  readonly status: number
  readonly headers?: Record<string, string>
  readonly body?: string
}

let lie: Lie
let server: Server
let url: string
beforeAll(async () => {
  server = createServer((_request, response) => {
    const { status, headers = {}, body } = lie
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

describe('the helper takes', () => {
  const rows: readonly (readonly [string, string, Lie])[] = [
    ['what the document says', '/health', { status: 200, body: healthy }],
    ['a refusal', '/health', { status: 400, body: wrong }],
    ['no change', '/health', { status: 304, headers: { etag: '"1"' } }],
    [
      'a header that every answer may have',
      '/health',
      { status: 503, headers: { vary: 'x' }, body: healthy },
    ],
    ['a path that is not there', '/nowhere', { status: 404, body: wrong }],
  ]
  test.each(rows)('%s', async (_name, path, answer) => {
    lie = answer
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
  const rows: readonly (readonly [string, string, string, Lie])[] = [
    ['a status', 'GET', '/health', { status: 201, body: healthy }],
    ['a header', 'GET', '/health', { status: 200, headers: { 'x-more': '1' }, body: healthy }],
    ['a header of HEAD', 'HEAD', '/health', { status: 200, headers: { 'x-more': '1' } }],
    ['a member', 'GET', '/health', { status: 200, body: extra }],
    ['a member inside', 'GET', '/health', { status: 400, body: inner }],
    ['a member that is missing', 'GET', '/health', { status: 200, body: '{}' }],
    [
      'a member of another kind',
      'GET',
      '/health',
      { status: 200, body: healthy.replace('true', '"yes"') },
    ],
    [
      'another kind of body',
      'GET',
      '/health',
      { status: 200, headers: { 'content-type': 'text/plain' }, body: healthy },
    ],
    ['a body where there is none', 'GET', '/health', { status: 304, headers: { 'x-more': '1' } }],
    ['a path that should not be there', 'GET', '/nowhere', { status: 200, body: healthy }],
    ['a method that should not be there', 'POST', '/health', { status: 200, body: healthy }],
    ['a refusal of another form', 'GET', '/nowhere', { status: 404, body: '{"code":404}' }],
  ]
  test.each(rows)('%s that the document lacks', async (_name, method, path, answer) => {
    lie = answer
    await expect(rest(url + path, { method })).rejects.toThrow('in the OpenAPI document')
  })
})

test('no test of a door asks a route past the helper', () => {
  const folder = new URL('../', import.meta.url)
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const past = files
    // The explorer's pages and files are no routes.
    .filter((file) => file.endsWith('.ts') && file !== 'explorer.test.ts')
    .flatMap((file) => {
      const lines = readFileSync(new URL(file, folder), 'utf8').split('\n')
      // What is left is GraphQL, and the root, which leads to it.
      const asks = lines.filter(
        (line) => /\bfetch\((?!gateway\.url,)/.test(line) && !line.includes('/graphql'),
      )
      return asks.map((line) => `${file}: ${line.trim()}`)
    })
  expect(past).toEqual([])
})

import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readExplorer } from '../../src/api/explorer.ts'
import { rest } from '../support/rest.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'

/** The explorer, served as `npm run build` built it. */

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

const browserHeaders = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const id = `0x${'00'.repeat(36)}`

describe('a browser that opens', () => {
  const rows = [
    ['the root', '/', './'],
    ['the root with a query', '/?by=HOUR', './'],
    ['a page', '/search?q=7', './'],
    ['a page with an id', `/transaction/${id}`, '../'],
  ] as const
  test.each(rows)('%s gets the explorer with the root as its base', async (_, path, base) => {
    const response = await open(path)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(await response.text()).toContain(`<base href="${base}"`)
  })

  const others = [
    ['an unknown path', '/nowhere'],
    ['a page without the segment of its id', '/transaction'],
    ['a page without its id', '/transaction/'],
    ['a path below a page', `/transaction/${id}/more`],
    ['a folder', '/explorer/'],
    ['a file that does not exist', '/explorer/index-00000000.js'],
  ] as const
  test.each(others)('%s gets the explorer with the status 404', async (_, path) => {
    const response = await open(path)
    expect([response.status, response.headers.get('content-type')]).toEqual([
      404,
      'text/html; charset=utf-8',
    ])
    const [, base = ''] = /<base href="([^"]+)"/.exec(await response.text()) ?? []
    expect(new URL(base, gateway.url + path).pathname).toBe('/')
    const read = await rest(gateway.url + path)
    expect(read.status).toBe(404)
    expect(await read.json()).toEqual({ error: { code: 404, message: expect.any(String) } })
  })

  test.each([
    '/api/core/v3/blokcs',
    `/api/core/v3/blocks/${id}`,
    '/v1/nothing',
    '/health/nothing',
    '/a/b/c/d/e/f/g/h/i',
  ])('%s gets the same refusal as a program', async (path) => {
    const response = await open(path)
    expect(response.status).toBe(404)
    expect(await response.json()).toEqual({ error: { code: 404, message: expect.any(String) } })
  })

  test.each(['/health', '/openapi.json'])(
    '%s gets the same response as a program',
    async (path) => {
      const [opened, read] = await Promise.all([open(path), rest(gateway.url + path)])
      expect([opened.status, opened.headers.get('content-type')]).toEqual([
        read.status,
        read.headers.get('content-type'),
      ])
    },
  )
})

test('a program that requests the path of a page is refused', async () => {
  for (const path of ['/', '/search', `/transaction/${id}`]) {
    expect((await rest(gateway.url + path)).status).toBe(404)
  }
})

test('the page allows no inline content and no other host, and is revalidated by its tag', async () => {
  const response = await open('/')
  const policy = response.headers.get('content-security-policy') ?? ''
  const sources = policy.split('; ').flatMap((directive) => directive.split(' ').slice(1))
  expect(new Set(sources)).toEqual(new Set(["'none'", "'self'", 'data:']))
  expect(policy).toContain("default-src 'none'")
  expect(response.headers.get('cache-control')).toBe('no-cache')
  const etag = response.headers.get('etag') ?? ''
  expect((await open('/', { 'if-none-match': etag })).status).toBe(304)
})

test('every file that the page names exists, is compressed, and may be cached for ever', async () => {
  const html = await (await open('/')).text()
  const files = Array.from(
    html.matchAll(/(?:src|href)="\.\/(explorer\/[^"]+)"/g),
    ([, file]) => file,
  )
  expect(new Set(files.map((file) => file?.replace(/.*\./, '')))).toEqual(
    new Set(['css', 'js', 'svg']),
  )
  for (const file of files) {
    const url = `${gateway.url}/${file}`
    const response = await fetch(url, { headers: { 'accept-encoding': 'identity' } })
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    const plain = Buffer.from(await response.arrayBuffer())
    // A file smaller than a packet is sent uncompressed.
    if (plain.length < 1_400) continue
    expect((await encoded(url, 'br', brotliDecompressSync)).equals(plain)).toBe(true)
    expect((await encoded(url, 'gzip', gunzipSync)).equals(plain)).toBe(true)
  }
})

test('EXPLORER=off disables the explorer', async () => {
  const without = await startGateway({ env: { EXPLORER: 'off' } })
  try {
    expect((await fetch(`${without.url}/search`, { headers: browserHeaders })).status).toBe(404)
  } finally {
    await without.close()
  }
})

test('a checkout in which the explorer was not built has none', async () => {
  expect(await readExplorer(new URL('nowhere/', import.meta.url))).toBe(undefined)
})

function open(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(gateway.url + path, {
    headers: { ...browserHeaders, ...headers },
    redirect: 'manual',
  })
}

/** Requests a file with a content coding, and returns its decoded body. */
async function encoded(url: string, coding: string, decode: (bytes: Buffer) => Buffer) {
  const { request } = await import('node:http')
  const bytes = await new Promise<Buffer>((resolve, reject) => {
    request(url, { headers: { 'accept-encoding': coding } }, (response) => {
      expect(response.headers['content-encoding']).toBe(coding)
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => resolve(Buffer.concat(chunks)))
    })
      .on('error', reject)
      .end()
  })
  return decode(bytes)
}

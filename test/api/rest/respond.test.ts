import { request as httpRequest, type IncomingMessage } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rest } from '../../support/rest.ts'
import { startGateway, type TestGateway } from '../../support/start-gateway.ts'

let gateway: TestGateway
let large: string
let small: string
beforeAll(async () => {
  gateway = await startGateway()
  large = `${gateway.url}/openapi.json`
  small = `${gateway.url}/api/routes`
})
afterAll(() => gateway.close())

describe('compression', () => {
  const rows = [
    ['gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br', 'br'],
    ['br;q=0.5, gzip', 'gzip'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
    ['gzip;q=0.5', 'gzip'],
    ['*', 'br'],
    ['*;q=0.1, gzip', 'gzip'],
    ['br;q=0, *', 'gzip'],
    ['gzip;q=0', undefined],
    ['gzip; q=0.000', undefined],
    ['identity', undefined],
    ['', undefined],
  ] as const
  test.each(rows)('with Accept-Encoding "%s": %s', async (accepted, coding) => {
    const { message, body } = await send(large, { 'accept-encoding': accepted })
    expect(message.headers['content-encoding']).toBe(coding)
    expect(message.headers['content-length']).toBe(String(body.length))
    const plain = coding === 'br' ? brotliDecompressSync(body) : coding ? gunzipSync(body) : body
    expect(JSON.parse(plain.toString()).openapi).toBe('3.1.0')
  })

  test('is not applied to a response that fits a packet', async () => {
    const { message } = await send(small, { 'accept-encoding': 'gzip' })
    expect(message.headers['content-encoding']).toBeUndefined()
  })

  test('of a response does not change its tag', async () => {
    const compressed = await send(large, { 'accept-encoding': 'gzip' })
    const plain = await send(large, {})
    expect(compressed.message.headers.etag).toBe(plain.message.headers.etag)
    expect(plain.message.headers.vary).toContain('accept-encoding')
  })
})

describe('a tag', () => {
  test.each(['GET', 'HEAD'])('that the client knows has the status 304 for %s', async (method) => {
    const { headers } = await rest(small)
    const etag = headers.get('etag') ?? ''
    expect(etag).toMatch(/^W\/"[\w-]+"$/)
    const known = [etag, etag.slice(2), `"other", ${etag}`, '*']
    for (const tag of known) {
      const again = await rest(small, { method, headers: { 'if-none-match': tag } })
      expect([again.status, again.headers.get('etag')]).toEqual([304, etag])
    }
    const other = await rest(small, { method, headers: { 'if-none-match': '"other"' } })
    expect(other.status).toBe(200)
  })

  test('is not sent with refusals', async () => {
    const { status, headers } = await rest(`${gateway.url}/nowhere`)
    expect([status, headers.get('etag')]).toEqual([404, null])
  })
})

describe('HEAD', () => {
  test.each(['/health', '/api/core/v3/info', '/openapi.json', '/nowhere'])(
    '%s has the status and headers of GET, and no body',
    async (path) => {
      const get = await send(gateway.url + path, {})
      const head = await send(gateway.url + path, {}, 'HEAD')
      expect(head.message.statusCode).toBe(get.message.statusCode)
      expect(head.message.headers['content-type']).toBe(get.message.headers['content-type'])
      expect(Number(head.message.headers['content-length'])).toBeGreaterThan(0)
      expect(head.body.length).toBe(0)
    },
  )
})

test.each(['gzip', 'br'])(
  'HEAD with Accept-Encoding %s has the coding of GET, and no other length',
  async (coding) => {
    const get = await send(large, { 'accept-encoding': coding })
    const head = await send(large, { 'accept-encoding': coding }, 'HEAD')
    const { 'content-encoding': used, 'content-length': length } = head.message.headers
    expect([used, get.message.headers['content-encoding']]).toEqual([coding, coding])
    expect([undefined, get.message.headers['content-length']]).toContain(length)
    expect(head.body.length).toBe(0)
    expect(head.message.headers.etag).toBe(get.message.headers.etag)
  },
)

/** Sends a request, and returns the body as it was received. */
function send(
  url: string,
  headers: Record<string, string>,
  method = 'GET',
): Promise<{ message: IncomingMessage; body: Buffer }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { headers, method }, (message) => {
      const chunks: Buffer[] = []
      message.on('data', (chunk: Buffer) => chunks.push(chunk))
      message.on('end', () => resolve({ message, body: Buffer.concat(chunks) }))
    })
    request.on('error', reject)
    request.end()
  })
}

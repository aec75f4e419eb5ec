import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { routes } from '../../../src/api/rest/routes.ts'
import { chainIdOf } from '../../support/chain-ids.ts'
import { rest, restJson } from '../../support/rest.ts'
import { startGateway, type TestGateway } from '../../support/start-gateway.ts'
import { blockOf, offerOf, taggedData } from '../../support/wallet.ts'

/** Malicious requests and broken connections: they get documented errors, and never the status 500. */

let gateway: TestGateway
let token: string
beforeAll(async () => {
  gateway = await startGateway()
  await offerOf(gateway.url)
  token = await gateway.token('chain-record:write')
})
afterAll(() => gateway.close())
afterEach(() => {
  const failed = gateway.logged.filter((line) => line.includes('request-failed'))
  expect(failed).toEqual([])
})

const id = `0x${'ab'.repeat(36)}`
const odd = [
  'x',
  '0',
  '-1',
  '4294967296',
  '99999999999999999999999999',
  '0x',
  '0xzz',
  id,
  `${id}0000`,
  'tst1qqqq',
  '%00',
  '%0a',
  '%2F',
  '%20',
  '%25',
  '%E2%82%AC',
  '%F0%9F%99%82',
  'a'.repeat(5_000),
  '{x}',
  "'%20OR%201=1",
  'null',
  'NaN',
  '1e3',
]

/** Bytes that are not UTF-8, or not percent encoding at all. */
const undecodable = ['%ff', '%E2%82', '%', '%2', '%zz']

function fill(path: string, value: string): string {
  return path.replaceAll(/\{\w+\}/g, value)
}

describe('odd values in', () => {
  const withParams = routes.filter(({ path }) => path.includes('{'))
  test.each(withParams.map((route) => [`${route.method} ${route.path}`, route] as const))(
    'the path of %s',
    async (_name, { method, path }) => {
      const headers = { authorization: token, 'content-type': 'application/json' }
      for (const value of [...odd, ...undecodable]) {
        const { status } = await rest(gateway.url + fill(path, value), { method, headers })
        // Slot 0 exists.
        const exists = value === '0' && /\{(index|slot)\}/.test(path)
        expect(status, value).toBeGreaterThanOrEqual(exists ? 200 : 400)
        expect(status, value).toBeLessThan(500)
      }
    },
  )

  const withQuery = routes.filter(({ query }) => Object.keys(query ?? {}).length > 0)
  test.each(withQuery.map((route) => [route.path, route] as const))(
    'the query of %s',
    async (path, { query = {} }) => {
      const url = gateway.url + fill(path, id)
      for (const name of Object.keys(query)) {
        // The longest wait would take its full time.
        if (name === 'wait') continue
        for (const value of [...odd, ...undecodable, '']) {
          expect((await rest(`${url}?${name}=${value}`)).status, value).toBeLessThan(500)
        }
        expect((await rest(`${url}?${name}=1&${name}=1`)).status).toBe(400)
      }
      for (const strange of [
        '%ff=1',
        '=',
        '=1',
        '&&&',
        'unknown=1',
        '__proto__=1',
        'a'.repeat(9_000),
      ])
        expect((await rest(`${url}?${strange}`)).status, strange).toBeLessThan(500)
    },
  )
})

describe('an odd body of', () => {
  const posts = routes.filter(({ method }) => method === 'POST')
  const bodies: readonly BodyInit[] = [
    '',
    'null',
    'true',
    '1',
    '"x"',
    '[]',
    '{}',
    '{"address":{}}',
    '{"header":null}',
    '{"header":1,"body":[],"signature":"x"}',
    '{"type":1}',
    '{"type":1,"transaction":null}',
    '{"type":0,"tag":1,"data":[]}',
    '{"accessNodes":null,"isActive":{}}',
    '{"__proto__":{"isActive":true},"accessNodes":[]}',
    '[['.repeat(20_000),
    `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`,
    '\ud800',
    Uint8Array.of(0xff, 0xfe, 0x00),
    new Uint8Array(40_000),
  ]
  const types = [
    'application/json',
    'application/vnd.iota.serializer-v2',
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/json; charset=utf-16',
    '',
  ]
  test.each(posts.map((route) => [route.path, route] as const))('%s', async (path) => {
    const url = gateway.url + fill(path, 'tst1x')
    for (const type of types) {
      for (const body of bodies) {
        const headers = { authorization: token, 'content-type': type }
        const { status } = await rest(url, { method: 'POST', headers, body })
        expect(status).toBeGreaterThanOrEqual(400)
        expect(status).toBeLessThan(500)
      }
    }
  })
})

describe('a connection', () => {
  async function open(): Promise<Socket> {
    const { hostname, port } = new URL(gateway.url)
    const socket = connect({ host: hostname, port: Number(port) })
    await once(socket, 'connect')
    return socket
  }

  async function head(type: string, length: number): Promise<Socket> {
    const socket = await open()
    const lines = [
      'POST /api/core/v3/blocks HTTP/1.1',
      'Host: x',
      'Connection: close',
      `Content-Type: ${type}`,
      `Content-Length: ${length}`,
    ]
    socket.write(`${lines.join('\r\n')}\r\n\r\n`)
    return socket
  }

  test('with thousands of requests gets all its responses', async () => {
    const socket = await open()
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk
    })
    const request = 'GET /health/live HTTP/1.1\r\nHost: x\r\n'
    socket.write(`${request}\r\n`.repeat(2_999))
    socket.write(`${request}Connection: close\r\n\r\n`)
    await once(socket, 'close')
    expect(received.split('HTTP/1.1 200').length - 1).toBe(3_000)
  })

  test('that sends a block in small parts gets its response', async () => {
    const { bytes, blockId } = blockOf(await offerOf(gateway.url), taggedData('0x', '0x01'))
    const socket = await head('application/vnd.iota.serializer-v2', bytes.length)
    socket.setNoDelay(true)
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk
    })
    for (let at = 0; at < bytes.length; at += 100) {
      socket.write(bytes.subarray(at, at + 100))
      await delay(1)
    }
    await once(socket, 'end')
    expect(received).toContain('HTTP/1.1 201')
    expect(received).toContain(blockId)
  })

  test.each([0, 1, 500])(
    'that breaks after %i bytes of the body affects no other client',
    async (sent) => {
      const socket = await head('application/json', 1_000)
      socket.write('x'.repeat(sent))
      socket.destroy()
      await once(socket, 'close')
      expect(await restJson(`${gateway.url}/health`)).toMatchObject({ isHealthy: true })
    },
  )

  test('that sends a record byte by byte gets its response', async () => {
    const body = JSON.stringify({ accessNodes: ['slow'], isActive: true })
    const socket = await open()
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk
    })
    const request = [
      `POST /v1/chains/${chainIdOf(1)}/chainrecord HTTP/1.1`,
      'Host: x',
      'Connection: close',
      `Authorization: ${token}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      '',
      body,
    ].join('\r\n')
    socket.setNoDelay(true)
    for (const byte of request) {
      socket.write(byte)
      await turn()
    }
    await once(socket, 'end')
    expect(received).toContain('HTTP/1.1 201')
    expect(received).toContain('"accessNodes":["slow"]')
  })

  test('that breaks in the middle of a record leaves the record unchanged', async () => {
    const path = `/v1/chains/${chainIdOf(2)}/chainrecord`
    const socket = await open()
    const lines = [
      `POST ${path} HTTP/1.1`,
      'Host: x',
      `Authorization: ${token}`,
      'Content-Type: application/json',
      'Content-Length: 100',
    ]
    socket.write(`${lines.join('\r\n')}\r\n\r\n{"accessNodes":[],"isActive":true}`)
    await turn()
    socket.destroy()
    await once(socket, 'close')
    expect((await rest(gateway.url + path)).status).toBe(404)
  })

  test('that reads its response in small parts gets all of it', async () => {
    const socket = await open()
    socket.write('GET /openapi.json HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    const chunks: Buffer[] = []
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      socket.pause()
      setImmediate(() => socket.resume())
    })
    await once(socket, 'end')
    const [, body = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n')
    expect(JSON.parse(body)).toEqual(await restJson(`${gateway.url}/openapi.json`))
  })

  test.each(['at once', 'after its first bytes'])(
    'that breaks during the response, %s, affects no other client',
    async (when) => {
      for (let i = 0; i < 20; i++) {
        const socket = await open()
        socket.write('GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n')
        if (when !== 'at once') await once(socket, 'data')
        socket.destroy()
      }
      expect(await restJson(`${gateway.url}/health`)).toMatchObject({ isHealthy: true })
    },
  )

  test('that its client aborts ends a long poll', async () => {
    const controller = new AbortController()
    const waiting = rest(`${gateway.url}/feed/updates?wait=60`, controller)
    controller.abort()
    await expect(waiting).rejects.toThrow('aborted')
    expect(await restJson(`${gateway.url}/health`)).toMatchObject({ isHealthy: true })
  })

  test.each([
    'GARBAGE\r\n\r\n',
    'GET /health HTTP/9.9\r\n\r\n',
    'GET /health\x00 HTTP/1.1\r\nHost: x\r\n\r\n',
    `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
  ])('that sends no valid HTTP is closed', async (text) => {
    const socket = await open()
    socket.on('error', () => {})
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk
    })
    socket.end(text)
    await once(socket, 'close')
    expect(received).toMatch(/^HTTP\/1\.1 4\d\d/)
  })
})

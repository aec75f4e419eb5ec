import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { answerUnreadable, maxHeadBytes } from '../../src/api/http/unreadable.ts'
import { maxBodyBytes } from '../../src/api/rest/body.ts'
import { type ServedLog, serveLog } from '../support/serve-log.ts'

/** A server that responds to each request to /slow in two halves, and that waits a tenth of a second for a request. */
let server: Server
let port: number
let onFirstHalf: (response: ServerResponse) => void
beforeAll(async () => {
  const options = { requestTimeout: 100, headersTimeout: 100, connectionsCheckingInterval: 10 }
  server = createServer(options, (request, response) => {
    // Like a route that reads the body first.
    if (request.url !== '/slow') return void request.on('error', () => {}).resume()
    response.write('first half, ')
    onFirstHalf(response)
  })
  answerUnreadable(server)
  await once(server.listen(0), 'listening')
  port = (server.address() as AddressInfo).port
})
afterAll(() => server.close())

/** Sends a text, and returns everything that is received until the connection is closed. */
async function send(
  text: string,
  then: (write: (more: string) => void) => void = () => {},
  to = port,
) {
  const socket = connect({ port: to, host: '127.0.0.1' })
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk
  })
  // The connection may be closed while there is something left to send.
  socket.on('error', () => {})
  socket.write(text)
  then((more) => socket.write(more))
  await once(socket, 'close')
  return received
}

const head = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'

describe('a JSON error is the response to', () => {
  const rows = [
    ['text that is not HTTP', 'GARBAGE\r\n\r\n', 400],
    ['another protocol', '\x16\x03\x01\x02\x00\x01\x00', 400],
    ['an unknown version', 'GET / HTTP/9.9\r\nHost: x\r\n\r\n', 400],
    ['a control character in a path', 'GET /\x00 HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['a malformed length', `${head}Content-Length: x\r\n\r\n`, 400],
    ['a malformed chunk', `${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n`, 400],
    ['a head that is too long', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
    ['a head that never ends', 'GET / HTTP/1.1\r\nHost: x\r\n', 408],
    ['a body that never ends', `${head}Content-Length: 10\r\n\r\n{`, 408],
  ] as const
  test.each(rows)('%s', async (_name, text, status) => {
    const received = await send(text)
    const [lines = '', body = ''] = received.split('\r\n\r\n')
    expect(lines).toContain(`HTTP/1.1 ${status} `)
    expect(lines).toContain('content-type: application/json')
    expect(lines).toContain('connection: close')
    expect(JSON.parse(body)).toEqual({ error: { code: status, message: expect.any(String) } })
  })
})

test('nothing is written into a response that has begun', async () => {
  const firstHalf = new Promise<ServerResponse>((resolve) => {
    onFirstHalf = resolve
  })
  const received = await send('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n', (write) => {
    void firstHalf.then(() => write('GARBAGE\r\n\r\n'))
  })
  expect(received).toContain('first half, ')
  expect(received).not.toContain('error')
})

describe('a gateway', () => {
  let served: ServedLog
  let gatewayPort: number
  beforeAll(async () => {
    served = await serveLog({ limits: { requestMs: 200 } })
    gatewayPort = Number(new URL(served.url).port)
  })
  afterAll(() => served.close())

  const headOf = (bytes: number) => {
    const before = 'GET /graphql?query={__typename}%23'
    const after = ' HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
    return before + 'a'.repeat(bytes - before.length - after.length) + after
  }

  test('reads a head just below the maximum length, and refuses a longer one', async () => {
    const within = await send(headOf(maxHeadBytes - 100), undefined, gatewayPort)
    expect(within).toContain('HTTP/1.1 200 ')
    expect(await send(headOf(maxHeadBytes + 100), undefined, gatewayPort)).toContain(
      'HTTP/1.1 431 ',
    )
  })

  test('refuses a body by its Content-Length, and does not wait for it', async () => {
    const lines = ['POST /graphql HTTP/1.1', 'Host: x', 'Accept: text/event-stream']
    const type = ['Content-Type: application/json', 'Connection: close']
    const length = `Content-Length: ${maxBodyBytes + 1}`
    const received = await send(
      [...lines, ...type, length, '', '{'].join('\r\n'),
      undefined,
      gatewayPort,
    )
    expect(received).toContain('HTTP/1.1 413 ')
  })

  test('waits for a body only for the time limit of a request', async () => {
    const received = await send(`${head}Content-Length: 10\r\n\r\n{`, undefined, gatewayPort)
    expect(received).toContain('HTTP/1.1 408 ')
  })
})

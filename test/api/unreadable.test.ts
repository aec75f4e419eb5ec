import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { maxBodyBytes } from '../../src/api/rest/body.ts'
import { answerUnreadable, maxHeadBytes } from '../../src/api/unreadable.ts'
import { type ServedLog, serveLog } from '../support/serve-log.ts'

/** A server of which every request to /slow is answered in two halves, and that waits a tenth of a second for a request. */
let server: Server
let port: number
let halfAnswered: (response: ServerResponse) => void
beforeAll(async () => {
  const options = { requestTimeout: 100, headersTimeout: 100, connectionsCheckingInterval: 10 }
  server = createServer(options, (request, response) => {
    // As a route does that reads the body first.
    if (request.url !== '/slow') return void request.on('error', () => {}).resume()
    response.write('first half, ')
    halfAnswered(response)
  })
  answerUnreadable(server)
  await once(server.listen(0), 'listening')
  port = (server.address() as AddressInfo).port
})
afterAll(() => server.close())

/** All that comes back until the connection is closed. */
async function send(
  text: string,
  then: (write: (more: string) => void) => void = () => {},
  to = port,
) {
  const socket = connect({ port: to, host: '127.0.0.1' })
  let answer = ''
  socket.on('data', (chunk) => {
    answer += chunk
  })
  // The connection may be cut while there is something left to send.
  socket.on('error', () => {})
  socket.write(text)
  then((more) => socket.write(more))
  await once(socket, 'close')
  return answer
}

const head = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'

describe('is refused as JSON', () => {
  const rows = [
    ['no HTTP', 'GARBAGE\r\n\r\n', 400],
    ['another protocol', '\x16\x03\x01\x02\x00\x01\x00', 400],
    ['an unknown version', 'GET / HTTP/9.9\r\nHost: x\r\n\r\n', 400],
    ['a control character in a path', 'GET /\x00 HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['a wrong length', `${head}Content-Length: x\r\n\r\n`, 400],
    ['a wrong chunk', `${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n`, 400],
    ['a head that is too long', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
    ['a head that never ends', 'GET / HTTP/1.1\r\nHost: x\r\n', 408],
    ['a body that never ends', `${head}Content-Length: 10\r\n\r\n{`, 408],
  ] as const
  test.each(rows)('%s', async (_name, text, status) => {
    const answer = await send(text)
    const [lines = '', body = ''] = answer.split('\r\n\r\n')
    expect(lines).toContain(`HTTP/1.1 ${status} `)
    expect(lines).toContain('content-type: application/json')
    expect(lines).toContain('connection: close')
    expect(JSON.parse(body)).toEqual({ error: { code: status, message: expect.any(String) } })
  })
})

test('nothing is written into an answer that has begun', async () => {
  const half = new Promise<ServerResponse>((resolve) => {
    halfAnswered = resolve
  })
  const answer = await send('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n', (write) => {
    void half.then(() => write('GARBAGE\r\n\r\n'))
  })
  expect(answer).toContain('first half, ')
  expect(answer).not.toContain('error')
})

describe('a gateway', () => {
  let served: ServedLog
  let its: number
  beforeAll(async () => {
    served = await serveLog({ limits: { requestMs: 200 } })
    its = Number(new URL(served.url).port)
  })
  afterAll(() => served.close())

  const headOf = (bytes: number) => {
    const [before, after] = ['GET /graphql?', ' HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n']
    return before + 'a'.repeat(bytes - before.length - after.length) + after
  }

  test('reads a head that is nearly as long as it may be, and none that is longer', async () => {
    const within = await send(headOf(maxHeadBytes - 100), undefined, its)
    expect(within).toContain('HTTP/1.1 200 ')
    expect(await send(headOf(maxHeadBytes + 100), undefined, its)).toContain('HTTP/1.1 431 ')
  })

  test('refuses a body by its length, and does not wait for it', async () => {
    const lines = ['POST /graphql HTTP/1.1', 'Host: x', 'Accept: text/event-stream']
    const type = ['Content-Type: application/json', 'Connection: close']
    const length = `Content-Length: ${maxBodyBytes + 1}`
    const answer = await send([...lines, ...type, length, '', '{'].join('\r\n'), undefined, its)
    expect(answer).toContain('HTTP/1.1 413 ')
  })

  test('waits for a body as long as it may take', async () => {
    const answer = await send(`${head}Content-Length: 10\r\n\r\n{`, undefined, its)
    expect(answer).toContain('HTTP/1.1 408 ')
  })
})

import { once } from 'node:events'
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chainIdOf } from '../support/chain-ids.ts'
import { restJson } from '../support/rest.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'
import { until } from '../support/until.ts'

let gateway: TestGateway
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(async () => {
  agent.destroy()
  await gateway.close()
})

/** Headers of Java's client and of curl for a server whose protocols they do not know yet. */
const offer = {
  connection: 'Upgrade, HTTP2-Settings',
  upgrade: 'h2c',
  'http2-settings': 'AAMAAABkAAQCAAAAAAIAAAAA',
}

interface RequestOptions {
  readonly path: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Returns the status, the body and the local port of the connection. */
async function send({ path, method = 'GET', headers = {}, body }: RequestOptions) {
  const request = httpRequest(gateway.url + path, { agent, method, headers })
  request.end(body)
  const [response]: IncomingMessage[] = await once(request, 'response')
  let text = ''
  for await (const chunk of response ?? []) text += chunk
  return { status: response?.statusCode, text, port: request.socket?.localPort }
}

describe('an offer of HTTP/2', () => {
  test('is ignored, and the request gets its response', async () => {
    const path = '/api/core/v3/committee'
    const { status, text } = await send({ path, headers: offer })
    expect([status, JSON.parse(text)]).toEqual([200, await restJson(gateway.url + path)])
  })

  test('is ignored for an unknown path, which is refused as usual', async () => {
    const { status, text } = await send({ path: '/nowhere', headers: offer })
    expect([status, JSON.parse(text).error.code]).toEqual([404, 404])
  })

  test('loses no part of a body', async () => {
    const path = `/v1/chains/${chainIdOf(3)}/chainrecord`
    const body = JSON.stringify({ accessNodes: ['x'.repeat(200)], isActive: true })
    const authorization = await gateway.token('chain-record:write')
    const headers = { ...offer, authorization, 'content-type': 'application/json' }
    const { status, text } = await send({ path, method: 'POST', headers, body })
    expect([status, JSON.parse(text).accessNodes]).toEqual([201, ['x'.repeat(200)]])
  })

  test('leaves the connection open for further requests', async () => {
    const first = await send({
      path: '/api/routes',
      headers: { ...offer, connection: 'Upgrade, HTTP2-Settings, keep-alive' },
    })
    const second = await send({ path: '/api/routes' })
    const third = await send({ path: '/api/routes', headers: offer })
    expect([second.text, third.text]).toEqual([first.text, first.text])
    expect(second.port).toBe(first.port)
  })
})

describe('requests that are sent before the first response', () => {
  const handshake = [
    ...['GET /graphql HTTP/1.1', 'Host: x', 'Connection: Upgrade', 'Upgrade: websocket'],
    ...['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='],
    ...['Sec-WebSocket-Protocol: graphql-transport-ws', '', ''],
  ].join('\r\n')

  test.each([
    [
      'offers of HTTP/2',
      'GET /api/routes HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n'.repeat(
        10,
      ),
      Array(10).fill('200'),
    ],
    ['a WebSocket', `GET /api/routes HTTP/1.1\r\nHost: x\r\n\r\n${handshake}`, ['200', '101']],
  ])('%s, have their responses in order', async (_name, requests, statuses) => {
    const { hostname, port } = new URL(gateway.url)
    const socket = connect({ host: hostname, port: Number(port) })
    let text = ''
    socket.on('data', (bytes) => {
      text += bytes
    })
    socket.write(requests)
    const received = () => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)
    await until(() => received().length === statuses.length, { what: 'all have responses' })
    expect(received()).toEqual(statuses)
    socket.destroy()
  })
})

test('a tunnel is refused with a JSON error', async () => {
  const { hostname, port } = new URL(gateway.url)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.write('CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: elsewhere.example:443\r\n\r\n')
  let response = ''
  for await (const chunk of socket) response += chunk
  expect(response).toContain('HTTP/1.1 404')
  expect(response).toContain('{"error":{"code":404,')
})

import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setImmediate as inNextPhase } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { send, sendFetched, sendInTurnsOf } from '../../../src/api/rest/respond.ts'
import { turnsAwaited } from '../../../src/lib/turns.ts'
import { phasesAwaited } from '../../support/phases-awaited.ts'
import { startGateway, type TestGateway } from '../../support/start-gateway.ts'
import { until } from '../../support/until.ts'

/** Responses of megabytes are passed to the system piece by piece, as their clients read them. */

const length = 16_000_000
const headers = { 'content-type': 'text/plain' }
const answers = [
  ['bytes', (response: ServerResponse) => send(response, responseOf(Buffer.alloc(length, 'x')))],
  ['text', (response: ServerResponse) => send(response, responseOf('x'.repeat(length)))],
  [
    'text beyond ASCII',
    (response: ServerResponse) => send(response, responseOf('é'.repeat(length / 2))),
  ],
  [
    'a response of the GraphQL server',
    async (response: ServerResponse) => {
      await sendFetched(response, new Response('x'.repeat(length), { headers }))
    },
  ],
] as const

function responseOf(body: string | Uint8Array) {
  return { status: 200, headers, body }
}

const server = createServer()
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
})
afterAll(() => server.close())

async function request(): Promise<{ readonly socket: Socket; readonly response: ServerResponse }> {
  const { port } = server.address() as AddressInfo
  const socket = connect({ host: '127.0.0.1', port })
  socket.pause()
  const arrived = once(server, 'request')
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  const [, response] = await arrived
  return { socket, response }
}

describe('a response of megabytes', () => {
  test.each(answers)(
    'of %s waits for a client that does not read, and is sent completely',
    async (_, sendAnswer) => {
      const { socket, response } = await request()
      let maximum = 0
      await sendAnswer(response)
      await until(
        async () => {
          maximum = Math.max(maximum, response.socket?.writableLength ?? 0)
          return response.writableNeedDrain
        },
        { what: 'the system accepts no more' },
      )
      for (let i = 0; i < 100; i++) await inNextPhase()
      expect(Math.max(maximum, response.socket?.writableLength ?? 0)).toBeLessThan(200_000)
      let received = 0
      socket.on('data', (chunk) => {
        received += chunk.length
      })
      socket.resume()
      await once(socket, 'close')
      expect(received).toBeGreaterThan(length)
      expect(received).toBeLessThan(length + 1_000)
    },
  )

  test('waits for the turns of the client that a proxy names', async () => {
    const { socket, response } = await request()
    sendInTurnsOf('192.0.2.1', response)
    send(response, responseOf('x'.repeat(length)))
    expect(turnsAwaited('192.0.2.1')).toBe(1)
    expect(turnsAwaited('127.0.0.1')).toBe(0)
    socket.destroy()
  })
})

describe('behind a trusted proxy', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway({ env: { TRUST_PROXY: '1' } })
  })
  afterAll(() => gateway.close())

  test.each([
    ['the fast path', 'application/json'],
    ['the executor', 'application/json;q=0.9'],
  ])('a response of megabytes by %s waits for the turns of the named client', async (_, accept) => {
    const limits = Array.from({ length: 250 }, (_, i) => `a${i}: limits { name meaning unit }`)
    const [proxy, named] = ['127.0.0.1', '192.0.2.1']
    const phases = await phasesAwaited([proxy, named], async () => {
      const response = await fetch(`${gateway.url}/graphql`, {
        method: 'POST',
        headers: {
          accept,
          'accept-encoding': 'identity',
          'content-type': 'application/json',
          'x-forwarded-for': named,
        },
        body: JSON.stringify({ query: `{ ${limits.join(' ')} }` }),
      })
      expect((await response.text()).length).toBeGreaterThan(1_000_000)
    })
    expect(phases).toEqual([0, expect.any(Number)])
    // One turn for each piece of 64 KiB, and not only one for the request.
    expect(phases[1]).toBeGreaterThan(10)
  })
})

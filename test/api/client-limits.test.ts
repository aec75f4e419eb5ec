import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { developmentClientLimits, maxUnsentAnswers } from '../../src/api/limits.ts'
import { slotOf } from '../support/feed-log.ts'
import { addresses } from '../support/log-store.ts'
import { openListener } from '../support/mqtt.ts'
import { type ServedLog, serveLog } from '../support/serve-log.ts'
import { until } from '../support/until.ts'

/** Limits of what one client may have open, below those of all clients. A client is an address of this machine. */

const client = { ...developmentClientLimits, connections: 2, subscriptions: 2 }
let gateway: ServedLog
beforeAll(async () => {
  gateway = await serveLog({ limits: { client, heartbeatMs: 220 } })
})
afterAll(() => gateway.close())

const [mine, other] = ['127.0.0.2', '127.0.0.3']
const graphqlPath = '/graphql'
const mqttPath = '/api/mqtt/v2'

function open(localAddress: string, path = graphqlPath, options = {}): WebSocket {
  const protocol = path === mqttPath ? 'mqtt' : 'graphql-transport-ws'
  const url = gateway.url.replace('http', 'ws') + path
  const socket = new WebSocket(url, protocol, { localAddress, ...options })
  socket.on('error', () => {})
  return socket
}

async function opened(localAddress: string, path = graphqlPath): Promise<WebSocket> {
  const socket = open(localAddress, path)
  await once(socket, 'open')
  return socket
}

/** Sends a raw request from an address, and returns the head and the body of the response. */
async function request(localAddress: string, head: string): Promise<string> {
  const socket = connect({
    port: Number(new URL(gateway.url).port),
    host: '127.0.0.1',
    localAddress,
  })
  socket.write(`${head}\r\nHost: test\r\nConnection: close\r\n\r\n`)
  let response = ''
  socket.setEncoding('utf8').on('data', (text: string) => {
    response += text
  })
  await once(socket, 'close')
  return response
}

async function initialise(socket: WebSocket, payload = {}): Promise<(message: object) => void> {
  const send = (message: object) => socket.send(JSON.stringify(message))
  send({ type: 'connection_init', payload })
  await once(socket, 'message')
  return send
}

const subscription = { query: 'subscription { ledgerUpdates { __typename } }' }

async function closeAll(sockets: readonly WebSocket[]): Promise<void> {
  for (const socket of sockets) {
    socket.terminate()
    if (socket.readyState !== socket.CLOSED) await once(socket, 'close')
  }
}

describe('connections', () => {
  test('of one client are limited over all transports, apart from those of other clients', async () => {
    const sockets = [await opened(mine), await opened(mine, mqttPath)]
    for (const path of [graphqlPath, mqttPath]) {
      const [, { statusCode, headers }] = await once(open(mine, path), 'unexpected-response')
      expect([statusCode, headers['retry-after']]).toEqual([429, '1'])
    }
    const query = encodeURIComponent(subscription.query)
    const stream = `GET /graphql?query=${query} HTTP/1.1\r\nAccept: text/event-stream`
    const response = await request(mine, stream)
    expect(response).toContain('HTTP/1.1 429')
    expect(response).toContain('this client already has 2 open connections')
    sockets.push(await opened(other))
    // The client may connect again when its connections are closed.
    await closeAll(sockets)
    const again = await until(async () => {
      const socket = open(mine)
      const isOpen = await Promise.race([
        once(socket, 'open').then(() => true),
        once(socket, 'unexpected-response').then(() => false),
      ])
      return isOpen && socket
    })
    await closeAll([again])
  })

  test('with a token count for its holder', async () => {
    const payload = { Authorization: await gateway.token() }
    const sockets = [await opened(mine), await opened(other), await opened(mine)]
    for (const socket of sockets.slice(0, 2)) await initialise(socket, payload)
    // The address of the third socket has one connection, and the holder of the token has two.
    sockets[2]?.send(JSON.stringify({ type: 'connection_init', payload }))
    const [code, reason] = await once(sockets[2] ?? open(mine), 'close')
    expect([code, String(reason)]).toEqual([1013, 'CLIENT_CONNECTION_LIMIT'])
    sockets.push(await opened(mine), await opened(mine))
    await closeAll(sockets)
  })

  test('of any kind beyond twice the limit are closed before anything is read from them', async () => {
    const port = Number(new URL(gateway.url).port)
    const socketOf = (localAddress: string): Socket =>
      connect({ port, host: '127.0.0.1', localAddress }).on('error', () => {})
    const [few, many] = ['127.0.0.4', '127.0.0.5']
    const within = Array.from({ length: 4 }, () => socketOf(few))
    for (const socket of within) await once(socket, 'connect')
    const extra = socketOf(few)
    await once(extra, 'close')
    expect(within.map(({ destroyed }) => destroyed)).toEqual([false, false, false, false])
    const health = 'GET /health/live HTTP/1.1'
    expect(await request(many, health)).toContain('HTTP/1.1 200')
    for (const socket of within) socket.destroy()
    await until(async () => (await request(few, health).catch(() => '')).includes('200'))
  })
})

describe('subscriptions', () => {
  test('and long polls of one client are limited over all its connections', async () => {
    const sockets = [await opened(mine), await opened(mine)]
    const sends = await Promise.all(sockets.map((socket) => initialise(socket)))
    for (const [i, send] of sends.entries()) {
      send({ id: '1', type: 'subscribe', payload: subscription })
      await once(sockets[i] ?? open(mine), 'message')
    }
    sends[0]?.({ id: '2', type: 'subscribe', payload: subscription })
    const [bytes] = await once(sockets[0] ?? open(mine), 'message')
    const { type, payload } = JSON.parse(String(bytes))
    expect([type, payload[0].extensions.code]).toEqual(['error', 'CLIENT_SUBSCRIPTION_LIMIT'])
    const poll = 'GET /feed/updates?wait=5 HTTP/1.1'
    expect(await request(mine, poll)).toContain('HTTP/1.1 429')
    sends[0]?.({ id: '1', type: 'complete' })
    await until(async () => (await request(mine, poll.replace('5', '0'))).includes('200'))
    await closeAll(sockets)
  })
})

describe('an MQTT client without a keep-alive', () => {
  test('is disconnected when it answers no ping, and stays connected while it does', async () => {
    const live = await openListener(gateway.url, { keepalive: 0 })
    let pings = 0
    const dead = open(other, mqttPath, { autoPong: false })
    dead.on('ping', () => pings++)
    await once(dead, 'open')
    // CONNECT of MQTT 3.1.1 with a keep-alive of 0.
    const connectPacket = '101000044d51545404020000000464656164'
    dead.send(Buffer.from(connectPacket, 'hex'))
    await once(dead, 'message')
    const [code] = await once(dead, 'close')
    expect([code, pings]).toEqual([1006, 1])
    expect(live.client.connected).toBe(true)
    await live.close()
  })
})

/** Time for fifty megabytes of responses, on a machine that is busy with other tests. */
const slowMs = 120_000

test('a client that requests long responses and reads none is disconnected when too many bytes wait', {
  timeout: slowMs,
}, async () => {
  // Nothing else ends the connection: neither a missed heartbeat nor the limit for the responses of all operations.
  const served = await serveLog({ limits: { heartbeatMs: slowMs, heldBytes: 2 ** 30 } })
  const [owner = '0x'] = addresses
  await served.commit(slotOf(...Array.from({ length: 1_000 }, () => owner)))
  await served.known()
  const socket = new WebSocket(
    `${served.url.replace('http', 'ws')}/graphql`,
    'graphql-transport-ws',
  )
  socket.on('error', () => {})
  await once(socket, 'open')
  const send = await initialise(socket)
  socket.pause()
  const queryOf = (fields: string) => {
    const list = `ledgerUpdates(first: 1000) { nodes { ${fields} } }`
    return `{ ${Array.from({ length: 25 }, (_, n) => `a${n}: ${list}`).join(' ')} }`
  }
  const [short, long] = [queryOf('isSpent'), queryOf('cursor historyHash outputId address')]
  // No message is read while more than a megabyte waits, so all are read while the responses to the first of them are computed.
  for (let id = 0; id < 16; id++) {
    const query = id < 3 ? short : long
    send({ id: String(id), type: 'subscribe', payload: { query } })
  }
  const lines = () => served.logged.map((line) => JSON.parse(line))
  const cut = { event: 'answers-unread', unsentBytes: expect.any(Number) }
  await vi.waitFor(() => expect(lines()).toContainEqual(expect.objectContaining(cut)), {
    timeout: slowMs - 10_000,
  })
  const { unsentBytes } = lines().find(({ event }) => event === cut.event)
  expect(unsentBytes).toBeGreaterThan(maxUnsentAnswers)
  // A response has less than 8 MB.
  expect(unsentBytes).toBeLessThan(maxUnsentAnswers + 8_000_000)
  // After the data in the buffers of the system the connection ends.
  socket.on('message', () => {})
  const closed = once(socket, 'close')
  socket.resume()
  expect(await closed).toEqual([1006, Buffer.alloc(0)])
  await served.close()
})

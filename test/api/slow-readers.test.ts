import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { slotOf } from '../support/feed-log.ts'
import { addresses } from '../support/log-store.ts'
import { type ServedLog, serveLog } from '../support/serve-log.ts'
import { until } from '../support/until.ts'

/** Clients that need more than a round of the heartbeat for one event. */

const [owner = '0x'] = addresses
// The first event must be sent within a round, also on a busy machine.
const heartbeatMs = 1_100
let gateway: ServedLog
beforeAll(async () => {
  gateway = await serveLog({ limits: { heartbeatMs } })
  await gateway.commit(slotOf(...Array.from({ length: 800 }, () => owner)))
  await gateway.known()
})
afterAll(() => gateway.close())

/** A feed with eight events of a megabyte, more than the system buffers. */
function largeFeed({ log } = gateway): string {
  const updates = Array.from({ length: 24 }, (_, i) => `u${i}: updates { ...Row }`).join(' ')
  return `subscription { ledgerUpdates(after: "${log.cursorAt(0)}") {
    ... on LedgerUpdateBatch { ${updates} } ... on FeedProgress { mode } } }
    fragment Row on LedgerUpdate { address cursor historyHash outputId }`
}

test('an event stream is not closed while its bytes are read slowly (7, 12)', async () => {
  const { hostname, port } = new URL(gateway.url)
  const socket = connect({ host: hostname, port: Number(port) })
  await once(socket, 'connect')
  const target = `/graphql?${new URLSearchParams({ query: largeFeed() })}`
  socket.write(`GET ${target} HTTP/1.1\r\nHost: test\r\nAccept: text/event-stream\r\n\r\n`)
  let isClosed = false
  socket.once('close', () => {
    isClosed = true
  })
  let tail = ''
  socket.on('data', async (chunk: Buffer) => {
    tail = (tail + chunk.toString('latin1')).slice(-200)
    socket.pause()
    await delay(60)
    socket.resume()
  })
  await until(() => isClosed || tail.includes('LIVE'), { what: 'the feed is live' })
  expect(isClosed).toBe(false)
  socket.destroy()
})

test('a WebSocket is not closed while its events wait to be read (7, 12)', async () => {
  const socket = new WebSocket(
    `${gateway.url.replace('http', 'ws')}/graphql`,
    'graphql-transport-ws',
  )
  let isClosed = false
  socket.once('close', () => {
    isClosed = true
  })
  await once(socket, 'open')
  socket.send('{"type":"connection_init"}')
  await once(socket, 'message')
  let last = ''
  socket.on('message', (bytes) => {
    last = String(bytes)
  })
  socket.pause()
  socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query: largeFeed() } }))
  // A peer without an answer is closed after two rounds.
  await delay(3 * heartbeatMs)
  socket.resume()
  await until(() => isClosed || last.includes('LIVE'), { what: 'the feed is live' })
  expect(isClosed).toBe(false)
  socket.terminate()
})

test('a WebSocket is not closed while events that came after a ping wait to be read (7, 12)', async () => {
  // The events must be sent before the next ping, also on a busy machine.
  const roundMs = 3_300
  const other = await serveLog({ limits: { heartbeatMs: roundMs } })
  await other.known()
  const url = `${other.url.replace('http', 'ws')}/graphql`
  const socket = new WebSocket(url, 'graphql-transport-ws', { autoPong: false })
  let isClosed = false
  socket.once('close', () => {
    isClosed = true
  })
  await once(socket, 'open')
  socket.send('{"type":"connection_init"}')
  let received = ''
  socket.on('message', (bytes) => {
    received += bytes
  })
  socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query: largeFeed(other) } }))
  let isReading = true
  socket.on('ping', () => {
    if (isReading) socket.pong()
  })
  await until(() => received.includes('"next"'), { what: 'the feed is open' })
  isReading = false
  await once(socket, 'ping')
  socket.pause()
  await other.commit(slotOf(...Array.from({ length: 800 }, () => owner)))
  await delay(1.2 * roundMs)
  isReading = true
  socket.resume()
  const end = `"cursor":"${other.log.cursorAt(800)}"`
  await until(() => isClosed || received.includes(end), { what: 'the last update arrives' })
  expect(isClosed).toBe(false)
  socket.terminate()
  await other.close()
})

import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { slotOf } from '../support/feed-log.ts'
import { addresses } from '../support/log-store.ts'
import { type ServedLog, serveLog } from '../support/serve-log.ts'
import { until } from '../support/until.ts'

/** Clients that read more slowly than one event is sent in a round of the heartbeat. */

const [owner = '0x'] = addresses
let gateway: ServedLog
beforeAll(async () => {
  gateway = await serveLog({ limits: { heartbeatMs: 110 } })
  await gateway.commit(slotOf(...Array.from({ length: 800 }, () => owner)))
  await gateway.known()
})
afterAll(() => gateway.close())

/** A feed with eight events of a megabyte, more than the system buffers. */
function largeFeed(): string {
  const updates = Array.from({ length: 24 }, (_, i) => `u${i}: updates { ...Row }`).join(' ')
  return `subscription { ledgerUpdates(after: "${gateway.log.cursorAt(0)}") {
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
    await delay(30)
    socket.resume()
  })
  await until(() => isClosed || tail.includes('LIVE'), { what: 'the feed is live' })
  expect(isClosed).toBe(false)
  socket.destroy()
})

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { present } from '../../src/lib/assert.ts'
import { bytesToHex } from '../../src/lib/hex.ts'
import { BasicBlockBody, Block } from '../../src/protocol/block.ts'
import { is } from '../../src/protocol/is.ts'
import { encode } from '../../src/protocol/schema/schema.ts'
import { notifyBlockChanges } from '../../src/store/block-changes.ts'
import { arbitraryOf } from '../support/arbitrary.ts'
import { slotOf } from '../support/feed-log.ts'
import { addresses } from '../support/log-store.ts'
import { event, openListener } from '../support/mqtt.ts'
import { type ServedLog, serveLog } from '../support/serve-log.ts'
import { incomingBlock } from '../support/store-rows.ts'
import { until } from '../support/until.ts'
import { taggedData } from '../support/wallet.ts'

/** Clients that do not read the responses to their requests. */

const stalledWriteMs = 3_000

let gateway: ServedLog
beforeAll(async () => {
  gateway = await serveLog({ limits: { stalledWriteMs } })
})
afterAll(() => gateway.close())

/** Requests nine megabytes, more than the system buffers, and reads nothing of them. */
function requestMuch(): Promise<Socket> {
  return sendUnread('GET /graphql HTTP/1.1\r\nHost: test\r\nAccept: text/html\r\n\r\n')
}

/** Sends a request and reads nothing of the response. */
async function sendUnread(request: string): Promise<Socket> {
  const { hostname, port } = new URL(gateway.url)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.on('error', () => {})
  socket.pause()
  await once(socket, 'connect')
  socket.write(request)
  return socket
}

describe('a plain response', () => {
  test('that its client does not read is cut off, even among many', async () => {
    const sockets = await Promise.all([...Array(20).keys()].map(requestMuch))
    await until(() => stalledCount() >= sockets.length)
    for (const socket of sockets) {
      const closed = new Promise((resolve) => socket.once('close', resolve))
      socket.resume()
      await closed
    }
  })

  test('that is read slowly is sent completely, although it is written in one piece', async () => {
    const before = stalledCount()
    const socket = await requestMuch()
    let response = Buffer.alloc(0)
    socket.on('data', async (chunk: Buffer) => {
      response = Buffer.concat([response, chunk])
      socket.pause()
      // The system sends on a third of its buffer at a time, about a megabyte; the whole buffer takes longer than the limit.
      await delay(60)
      socket.resume()
    })
    socket.resume()
    const lengthOf = () =>
      Number(/content-length: (\d+)/i.exec(response.toString('latin1', 0, 999))?.[1])
    await until(() => response.length > lengthOf(), { what: 'the response is complete' })
    expect(stalledCount()).toBe(before)
    socket.destroy()
  })
})

describe('a WebSocket that does not read', () => {
  const open = async () => {
    const url = `${gateway.url.replace('http', 'ws')}/graphql`
    const socket = new WebSocket(url, 'graphql-transport-ws')
    socket.on('error', () => {})
    await once(socket, 'open')
    return socket
  }

  test('gets short pongs for pings of a megabyte', async () => {
    const socket = await open()
    socket.send('{"type":"connection_init"}')
    await once(socket, 'message')
    const received: string[] = []
    socket.on('message', (bytes) => received.push(String(bytes)))
    socket.pause()
    const payload = { filling: 'x'.repeat(900_000) }
    for (let i = 0; i < 50; i++) socket.send(JSON.stringify({ type: 'ping', payload }))
    await until(() => socket.bufferedAmount === 0)
    socket.send(JSON.stringify({ type: 'ping', payload: { last: true } }))
    socket.resume()
    await until(() => received.includes('{"type":"pong","payload":{"last":true}}'))
    expect(received.join('').length).toBeLessThan(51 * 20)
    socket.close()
  })

  test('is disconnected when it continues to send requests, after the gateway has stopped reading them', async () => {
    const before = stalledCount()
    const socket = await open()
    socket.send('{"type":"connection_init"}')
    await once(socket, 'message')
    socket.pause()
    const query =
      '{ __schema { types { description fields { description args { description } } } } }'
    const variables = { filling: 'x'.repeat(200_000) }
    let sent = 0
    while (stalledCount() === before) {
      if (socket.bufferedAmount < 1_000_000) {
        socket.send(
          JSON.stringify({ type: 'subscribe', id: String(sent++), payload: { query, variables } }),
        )
      }
      await delay(1)
    }
    // The buffers of the system in both directions, and little more.
    expect(sent).toBeLessThan(200)
    socket.terminate()
  })
})

test('an event stream that its client does not read is cut off (7)', async () => {
  const before = stalledCount()
  // Twenty events of a megabyte: the feed stops by itself when the socket accepts no more.
  const [owner = '0x'] = addresses
  await gateway.commit(slotOf(...Array.from({ length: 2_000 }, () => owner)))
  await gateway.known()
  const updates = Array.from({ length: 24 }, (_, i) => `u${i}: updates { ...Row }`).join(' ')
  const query = `subscription { ledgerUpdates(after: "${gateway.log.cursorAt(0)}") {
    ... on LedgerUpdateBatch { ${updates} } } }
    fragment Row on LedgerUpdate { address cursor historyHash outputId }`
  const target = `/graphql?${new URLSearchParams({ query })}`
  const accept = 'Accept: text/event-stream'
  const socket = await sendUnread(`GET ${target} HTTP/1.1\r\nHost: test\r\n${accept}\r\n\r\n`)
  await until(() => stalledCount() > before)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.resume()
  await closed
})

describe('an MQTT client that does not read', () => {
  /** Creates a block whose JSON has 17 KB. */
  function largeBlock(): Uint8Array {
    const basic = arbitraryOf(Block).filter(({ body }) => is(BasicBlockBody, body))
    const { body, ...rest } = present(fc.sample(basic, 1)[0], 'a block')
    const payload = taggedData('0x', bytesToHex(new Uint8Array(8_192)))
    return encode(Block, { ...rest, body: { ...body, payload } as BasicBlockBody })
  }

  test('is disconnected before its unsent data reaches the limit, and no other client is', async () => {
    const { write } = notifyBlockChanges(gateway.log.store, gateway.feed.blocks.notify)
    const bytes = largeBlock()
    let published = 0
    const publish = async (count: number) => {
      const blocks = Array.from({ length: count }, () =>
        incomingBlock(++published, { slot: 3, bytes, transactionId: undefined }),
      )
      await write.acceptBlocks(blocks)
    }
    const reader = await openListener(gateway.url)
    const silent = await openListener(gateway.url, { keepalive: 0 })
    let received = 0
    reader.client.on('message', () => received++)
    for (const { listen } of [reader, silent]) await listen('blocks')
    // Events begin with the first read after the subscription.
    await until(async () => {
      await publish(1)
      return received > 0
    })
    const before = stalledCount()
    silent.client.stream.unpipe().pause()
    // Seven megabytes: more than the system buffers, and less than the limit of the broker.
    await publish(400)
    await until(() => stalledCount() > before)
    await until(() => received >= 400)
    expect(stalledCount()).toBe(before + 1)
    expect(reader.client.connected).toBe(true)
    const closed = event(silent.client, 'close')
    silent.client.stream.resume()
    await closed
    await reader.close()
  })
})

function stalledCount(): number {
  return gateway.logged.filter((line) => line.includes('write-stalled')).length
}

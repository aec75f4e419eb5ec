import { once } from 'node:events'
import { Duplex } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { passWholePackets } from '../../../src/api/mqtt/packets.ts'
import { startGateway, type TestGateway } from '../../support/start-gateway.ts'

/** A packet whose header is `head`, with a body of this length. */
function packet(head: number, length: number): Buffer {
  const digits = [(length % 128) | 128, (Math.floor(length / 128) % 128) | 128, length >> 14]
  return Buffer.concat([Buffer.from([head, ...digits]), Buffer.alloc(length, 'x')])
}

const ping = Buffer.from([0xc0, 0])

/** A stream that receives pieces, and what it passed on in each turn. */
function receive(pieces: readonly Buffer[], maxBytes = 100_000) {
  const passed: Buffer[] = []
  const stream = new Duplex({ read: () => {} })
  passWholePackets(stream, { maxBytes, turn: async () => {} })
  const got = stream.on('data', (bytes: Buffer) => passed.push(bytes))
  for (const piece of pieces) if (!stream.destroyed) stream.push(piece)
  return { stream: got, passed }
}

describe('the bytes of a connection are passed on', () => {
  test('in whole packets, in however many pieces they arrive', async () => {
    const one = packet(0x82, 50_000)
    const pieces = [...one].map((byte) => Buffer.from([byte]))
    const { stream, passed } = receive(pieces.slice(0, -1))
    await setImmediate()
    expect(passed).toEqual([])
    for (const piece of [...pieces.slice(-1), ping.subarray(0, 1)]) stream.push(piece)
    await setImmediate()
    expect(passed).toEqual([one])
  })

  test('a few packets at a time', async () => {
    const { stream, passed } = receive([Buffer.concat(Array.from({ length: 40 }, () => ping))])
    while (passed.length < 3) await once(stream, 'data')
    expect(passed.map(({ length }) => length)).toEqual([32, 32, 16])
  })

  test('completely before the end of the stream', async () => {
    const { stream, passed } = receive([Buffer.concat(Array.from({ length: 40 }, () => ping))])
    stream.push(null)
    await once(stream, 'end')
    expect(Buffer.concat(passed)).toHaveLength(80)
  })

  test.each([
    [
      'a packet that is too long, as soon as its length is known',
      packet(0x82, 99_999).subarray(0, 4),
    ],
    ['a length of more than four digits', Buffer.from([0x82, 255, 255, 255, 255])],
  ])('and not after %s', (_name, bytes) => {
    const { stream } = receive([bytes])
    expect(stream.destroyed).toBe(true)
  })
})

describe('a gateway', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.close())

  const connect = Buffer.from([0x10, 13, 0, 4, ...Buffer.from('MQTT'), 4, 2, 0, 0, 0, 1, 0x61])
  async function open() {
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/api/mqtt/v2`, 'mqtt')
    await once(socket, 'open')
    socket.send(connect)
    await once(socket, 'message')
    return socket
  }

  test('answers all of 30,000 pings that arrive in one message, in turns with other clients', async () => {
    const socket = await open()
    let pongs = 0
    socket.on('message', (bytes: Buffer) => {
      pongs += bytes.length / 2
    })
    socket.send(Buffer.concat(Array.from({ length: 30_000 }, () => ping)))
    await once(socket, 'message')
    expect((await fetch(`${gateway.url}/graphql?query={__typename}`)).status).toBe(200)
    expect(pongs).toBeLessThan(30_000)
    while (pongs < 30_000) await once(socket, 'message')
    socket.terminate()
  })

  test('accepts a subscription to a thousand topics in one message', async () => {
    const socket = await open()
    const topics = Array.from({ length: 1_000 }, (_, n) => {
      const topic = `transaction-metadata/0x${String(n).padStart(72, '0')}`
      return Buffer.concat([Buffer.from([0, topic.length]), Buffer.from(topic), Buffer.from([0])])
    })
    const body = Buffer.concat([Buffer.from([0, 1]), ...topics])
    const subscribe = packet(0x82, body.length)
    body.copy(subscribe, subscribe.length - body.length)
    socket.send(subscribe)
    const [answer] = await Promise.race([
      once(socket, 'message'),
      once(socket, 'close').then(([code]) => [code]),
    ])
    expect(Buffer.isBuffer(answer) ? answer[0] : answer).toBe(0x90)
    socket.terminate()
  })

  test('cuts a client whose packet is longer than any that it needs', async () => {
    const socket = await open()
    socket.send(packet(0xa2, 140_000).subarray(0, 60_000))
    await once(socket, 'close')
  })
})

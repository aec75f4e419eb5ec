import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { queryObjects } from 'node:v8'
import mqtt from 'mqtt'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { present } from '../../../src/lib/assert.ts'
import { bytesToHex } from '../../../src/lib/hex.ts'
import { Block } from '../../../src/protocol/block.ts'
import { SlotCommitment } from '../../../src/protocol/commitment.ts'
import {
  BlockMetadata,
  OutputWithMetadata,
  TransactionMetadata,
} from '../../../src/protocol/node-responses.ts'
import { decode, print, type Schema } from '../../../src/protocol/schema/schema.ts'
import { event, type Listener, openListener } from '../../support/mqtt.ts'
import { restJson } from '../../support/rest.ts'
import { startGateway, type TestGateway } from '../../support/start-gateway.ts'
import { acceptedId, post } from '../../support/submit.ts'
import { until } from '../../support/until.ts'
import {
  addressOf,
  blockOf,
  genesisOutputs,
  offerOf,
  ownedBy,
  paymentOf,
  slotNow,
  taggedData,
  user,
} from '../../support/wallet.ts'

let gateway: TestGateway
let listener: Listener
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())
afterEach(() => listener?.close())

async function open(...topics: string[]): Promise<Listener> {
  listener = await openListener(gateway.url)
  for (const topic of topics) expect(await listener.listen(topic)).toBe(0)
  return listener
}

async function jsonOn(topic: string) {
  return JSON.parse((await listener.next(topic)).toString())
}

function decoded<T>(schema: Schema<T>, bytes: Buffer): unknown {
  const value = decode(schema, Uint8Array.from(bytes))
  return value.ok ? print(schema, value.value) : value.error
}

describe('commitments', () => {
  test('are published in order, the same as JSON and as bytes', async () => {
    await open('commitments/latest', 'commitments/latest/raw', 'commitments/finalized')
    const first = await jsonOn('commitments/latest')
    const second = await jsonOn('commitments/latest')
    expect(second.slot).toBe(first.slot + 1)
    const bytes = await listener.next('commitments/latest/raw')
    expect(decoded(SlotCommitment, bytes)).toHaveProperty('rootsId')
    expect(await jsonOn('commitments/finalized')).toHaveProperty('slot')
    expect(await restJson(`${gateway.url}/api/core/v3/commitments/by-slot/${first.slot}`)).toEqual(
      first,
    )
  })
})

describe('blocks', () => {
  test('are published on all their topics, and so are their states', async () => {
    const tagged = 'blocks/basic/tagged-data'
    await open('blocks', 'blocks/basic/raw', tagged, `${tagged}/0x6d717474`, 'blocks/validation')
    await listener.listen('block-metadata/accepted')
    await listener.listen('block-metadata/confirmed')
    // The node issues a block in every slot; after the first one, the loop that publishes runs.
    await listener.next('blocks')
    const { block, bytes, blockId } = blockOf(
      await offerOf(gateway.url),
      taggedData('0x6d717474', '0x01'),
    )
    await acceptedId(await post(gateway.url, bytes))
    expect(await jsonOn(`${tagged}/0x6d717474`)).toEqual(print(Block, block))
    expect(await jsonOn(tagged)).toEqual(print(Block, block))
    expect(await untilFound('blocks/basic/raw', (raw) => raw.equals(bytes))).toBeDefined()
    for (const topic of ['block-metadata/accepted', 'block-metadata/confirmed']) {
      await untilFound(topic, (payload) => payload.includes(blockId))
    }
  })

  test('have their current state published on a topic of their own', async () => {
    const { bytes, blockId } = blockOf(await offerOf(gateway.url), taggedData('0x', '0x02'))
    await acceptedId(await post(gateway.url, bytes))
    const metadata = `${gateway.url}/api/core/v3/blocks/${blockId}/metadata`
    // While the block is pending, its state may change between the messages of the two topics.
    await until(async () => (await restJson(metadata)).blockState !== 'pending')
    const topic = `block-metadata/${blockId}`
    await open(topic, `${topic}/raw`)
    const first = await jsonOn(topic)
    expect(first).toEqual({ blockId, blockState: expect.any(String) })
    expect(decoded(BlockMetadata, await listener.next(`${topic}/raw`))).toEqual(first)
    await restJson(`${gateway.url}/api/core/v3/blocks/${blockId}`)
  })

  async function untilFound(topic: string, matches: (payload: Buffer) => boolean): Promise<Buffer> {
    for (;;) {
      const payload = await listener.next(topic)
      if (matches(payload)) return payload
    }
  }
})

describe('a transaction', () => {
  test('is published with its outputs, accepted first, then committed', async () => {
    const offer = await offerOf(gateway.url)
    const spent = present((await genesisOutputs(gateway.url, user(3)))[0], 'an output')
    const payment = paymentOf(offer.network, {
      spend: spent,
      key: user(3),
      outputs: [ownedBy(user(4), 1_000_000_000n)],
      creationSlot: slotNow(offer.network),
    })
    const [created = ''] = payment.created
    const metadata = `transaction-metadata/${payment.transactionId}`
    const included = `transactions/${payment.transactionId}/included-block-metadata`
    const unlock = `outputs/unlock/address/${addressOf(user(4))}`
    await open(metadata, included, `outputs/${created}`, unlock, `${unlock}/raw`)
    await listener.listen(`outputs/unlock/+/${addressOf(user(3))}`)
    await listener.listen(`outputs/${spent}`)
    expect(await jsonOn(`outputs/${spent}`)).not.toHaveProperty('metadata.spent')
    await listener.listen('blocks')
    await listener.next('blocks')
    const { bytes, blockId } = blockOf(offer, payment.payload, {
      header: { issuingTime: BigInt(Date.now()) * 1_000_000n },
    })
    await acceptedId(await post(gateway.url, bytes))
    expect(await jsonOn(metadata)).toMatchObject({ transactionState: 'accepted' })
    expect(await jsonOn(included)).toMatchObject({ blockId })
    const accepted = await jsonOn(unlock)
    expect(accepted.metadata.included).not.toHaveProperty('commitmentId')
    const committed = await jsonOn(unlock)
    expect(committed.metadata.included).toHaveProperty('commitmentId')
    expect(committed).toMatchObject({ output: accepted.output, metadata: { outputId: created } })
    const raw = decoded(OutputWithMetadata, await listener.next(`${unlock}/raw`))
    expect(raw).toMatchObject({ output: accepted.output })
    expect(await jsonOn(`outputs/${created}`)).toMatchObject({ output: accepted.output })
    const spentOutput = await jsonOn(`outputs/unlock/address/${addressOf(user(3))}`)
    expect(spentOutput.metadata).toMatchObject({
      outputId: spent,
      spent: { transactionId: payment.transactionId },
    })
    expect(await jsonOn(`outputs/${spent}`)).toHaveProperty('metadata.spent')
    expect(await jsonOn(metadata)).toMatchObject({ transactionState: 'finalized' })
  })

  test('that was submitted before anyone subscribed is published until it is final', async () => {
    const offer = await offerOf(gateway.url)
    const spend = present((await genesisOutputs(gateway.url, user(8)))[0], 'an output')
    const payment = paymentOf(offer.network, {
      spend,
      key: user(8),
      outputs: [ownedBy(user(8), 1_000_000_000n)],
      creationSlot: slotNow(offer.network),
    })
    await acceptedId(await post(gateway.url, blockOf(offer, payment.payload).bytes))
    const topic = `transaction-metadata/${payment.transactionId}`
    await open(topic)
    let state = ''
    while (state !== 'finalized') state = (await jsonOn(topic)).transactionState
  })

  test('that exists before the subscription is published with its current state', async () => {
    const offer = await offerOf(gateway.url)
    const spend = present((await genesisOutputs(gateway.url, user(5)))[0], 'an output')
    const payment = paymentOf(offer.network, {
      spend,
      key: user(6),
      outputs: [ownedBy(user(6), 1_000_000_000n)],
      creationSlot: slotNow(offer.network),
    })
    await acceptedId(await post(gateway.url, blockOf(offer, payment.payload).bytes))
    const rest = `${gateway.url}/api/core/v3/transactions/${payment.transactionId}/metadata`
    await until(async () => (await restJson(rest)).transactionState === 'failed')
    const topic = `transaction-metadata/${payment.transactionId}`
    await open(topic, `${topic}/raw`)
    const failed = await jsonOn(topic)
    expect(failed).toEqual(await restJson(rest))
    expect(decoded(TransactionMetadata, await listener.next(`${topic}/raw`))).toEqual(failed)
  })
})

describe('the broker refuses', () => {
  const id = `0x${'ab'.repeat(36)}`
  const topics = [
    '#',
    '+',
    'blocks/#',
    'blocks/nothing',
    'outputs/+',
    'outputs/unlock/+/+',
    'outputs/unlock/nothing/tst1',
    `outputs/unlock/timelock/${addressOf(user(0))}`,
    `outputs/nft/${addressOf(user(0))}`,
    'outputs/foundry/0x00',
    `block-metadata/${id.slice(0, -2)}`,
    `block-metadata/${id.toUpperCase()}`,
    `transactions/${id}/included-block`,
    '$SYS/+/heartbeat',
    'blocks/basic/tagged-data/0x',
    'ledger-updates',
  ]
  test.each(topics)('the topic %s', async (topic) => {
    await open()
    expect(await listener.listen(topic)).toBe(128)
  })

  test('a publication, and disconnects the client', async () => {
    await open('blocks')
    const other = await openListener(gateway.url)
    const closed = event(other.client, 'close')
    other.client.publish('blocks', 'nonsense')
    await closed
    expect((await listener.next('blocks')).toString()).not.toBe('nonsense')
    await other.close()
  })

  test('MQTT 5 with its code for an unsupported version', async () => {
    await open()
    const client = mqtt.connect(`${gateway.url.replace(/^http/, 'ws')}/api/mqtt/v2`, {
      reconnectPeriod: 0,
      protocolVersion: 5,
    })
    const [error] = await event(client, 'error')
    expect(error.code).toBe(0x84)
    await client.endAsync(true)
  })

  test('a WebSocket on another path', async () => {
    await open()
    const socket = new WebSocket(`${gateway.url.replace(/^http/, 'ws')}/api/mqtt/v1`)
    const [, response] = await once(socket, 'unexpected-response')
    expect(response.statusCode).toBe(404)
  })
})

describe('a client', () => {
  test('of MQTT 3.1 is served as well', async () => {
    listener = await openListener(gateway.url, { protocolId: 'MQIsdp', protocolVersion: 3 })
    await listener.listen('commitments/latest')
    expect(await jsonOn('commitments/latest')).toHaveProperty('slot')
  })

  test('that requests a session and a will leaves nothing behind', async () => {
    await open('blocks')
    const will = {
      topic: 'blocks',
      payload: Buffer.from('nonsense'),
      qos: 0,
      retain: false,
    } as const
    const other = await openListener(gateway.url, { clientId: 'comes-again', clean: false, will })
    await other.listen('commitments/latest')
    other.client.stream.destroy()
    await event(other.client, 'close')
    const again = await openListener(gateway.url, { clientId: 'comes-again', clean: false })
    expect((await listener.next('blocks')).toString()).not.toBe('nonsense')
    await again.close()
  })

  test('has at most a thousand topics', async () => {
    await open()
    const topics = Array.from({ length: 1_000 }, (_, i) => {
      const tag = Buffer.from(String(i)).toString('hex')
      return `blocks/basic/tagged-data/0x${tag}`
    })
    await listener.client.subscribeAsync(topics)
    expect(await listener.listen('blocks')).toBe(128)
    // A repeated subscription replaces the former one (MQTT 3.1.1, 3.8.4).
    expect(await listener.listen(present(topics[0], 'a topic'))).toBe(0)
    await listener.client.unsubscribeAsync(present(topics[0], 'a topic'))
    expect(await listener.listen('blocks')).toBe(0)
  })
})

test('a client that sends many requests and reads no response is disconnected', async () => {
  await open()
  const offer = await offerOf(gateway.url)
  const metadata = { type: 2, entries: [{ key: 'a', value: `0x${'00'.repeat(8_000)}` }] } as const
  const payment = paymentOf(offer.network, {
    spend: present((await genesisOutputs(gateway.url, user(7)))[0], 'an output'),
    key: user(7),
    outputs: [{ ...ownedBy(user(7), 1_000_000_000n), features: [metadata] }],
    creationSlot: slotNow(offer.network),
  })
  await acceptedId(await post(gateway.url, blockOf(offer, payment.payload).bytes))
  const topic = `outputs/${payment.created[0]}`
  await listener.listen(topic)
  // A message that is published later replaces the states that are being read.
  let state = await listener.next(topic)
  while (JSON.parse(state.toString()).metadata.included.commitmentId === undefined)
    state = await listener.next(topic)
  expect(state.length).toBeGreaterThan(16_000)

  const socket = new WebSocket(`${gateway.url.replace(/^http/, 'ws')}/api/mqtt/v2`, 'mqtt')
  socket.on('error', () => {})
  await once(socket, 'open')
  socket.send(packet(0x10, [0, 4, ...Buffer.from('MQTT'), 4, 2, 0, 0, 0, 1, 0x61]))
  await once(socket, 'message')
  socket.pause()
  const subscribe = packet(0x82, [0, 1, 0, topic.length, ...Buffer.from(topic), 0])
  // More than the system buffers, and less than the broker buffers for a slow client.
  for (let i = 0; i < 500; i++) socket.send(subscribe)
  const ping = packet(0xc0, [])
  for (let i = 0; i < 200; i++) socket.send(Buffer.concat(Array(1_000).fill(ping)))
  // A paused socket detects its end only by writing.
  const isClosed = () => {
    if (socket.readyState !== socket.OPEN) return true
    socket.send(ping)
    return false
  }
  await until(isClosed, { what: 'the socket is closed', deadlineMs: 55_000 })
})

test('a client that leaves before the answer to a refused topic is not held in memory', async () => {
  // Counts the reachable sockets of this process, after a garbage collection.
  const sockets = () => queryObjects(WebSocket, { format: 'count' })
  const subscribe = packet(0x82, [0, 1, 0, 1, 0x61, 0])
  const leave = async () => {
    const socket = new WebSocket(`${gateway.url.replace(/^http/, 'ws')}/api/mqtt/v2`, 'mqtt')
    await once(socket, 'open')
    socket.send(packet(0x10, [0, 4, ...Buffer.from('MQTT'), 4, 2, 0, 0, 0, 1, 0x61]))
    await once(socket, 'message')
    socket.send(subscribe)
    socket.terminate()
    await once(socket, 'close')
  }
  await leave()
  const before = sockets()
  for (let i = 0; i < 20; i++) await leave()
  await until(() => sockets() <= before + 5)
})

describe('a client id', () => {
  const topic = 'commitments/latest'
  const subscribe = packet(0x82, [0, 1, 0, topic.length, ...Buffer.from(topic), 0])
  const open = async (id: string) => {
    const socket = new WebSocket(`${gateway.url.replace(/^http/, 'ws')}/api/mqtt/v2`, 'mqtt')
    await once(socket, 'open')
    const head = [0, 4, ...Buffer.from('MQTT'), 4, 2, 0, 0, 0, id.length]
    socket.send(packet(0x10, [...head, ...Buffer.from(id)]))
    return socket
  }
  const follow = async (id: string) => {
    const socket = await open(id)
    for (const one of [undefined, subscribe]) {
      if (one !== undefined) socket.send(one)
      await once(socket, 'message')
    }
    return socket
  }

  test('of more than 23 characters is refused in MQTT 3.1', async () => {
    const codes: unknown[] = []
    for (const length of [23, 24]) {
      const socket = new WebSocket(`${gateway.url.replace(/^http/, 'ws')}/api/mqtt/v2`, 'mqttv3.1')
      await once(socket, 'open')
      const head = [0, 6, ...Buffer.from('MQIsdp'), 3, 2, 0, 0, 0, length]
      let answer = Buffer.alloc(0)
      socket.on('message', (bytes: Buffer) => {
        answer = Buffer.concat([answer, bytes])
      })
      socket.send(packet(0x10, [...head, ...Buffer.alloc(length, 'x')]))
      await until(() => answer.length === 4)
      codes.push(answer[3])
      socket.terminate()
    }
    expect(codes).toEqual([0, 2])
  })

  test('belongs to the newest connection, which ends the former one', async () => {
    const former = await follow('one')
    const other = await follow('another')
    const newest = await follow('one')
    if (former.readyState !== former.CLOSED) await once(former, 'close')
    expect([other, newest].map(({ readyState }) => readyState)).toEqual([1, 1])
    const last = await follow('one')
    if (newest.readyState !== newest.CLOSED) await once(newest, 'close')
    expect([other, last].map(({ readyState }) => readyState)).toEqual([1, 1])
    for (const socket of [other, last]) socket.terminate()
  })

  test('that a connection takes over and leaves at once holds neither connection in memory', async () => {
    const takeOver = async (phases: number) => {
      const former = await follow(`of ${phases}`)
      const next = await open(`of ${phases}`)
      // The client and the gateway share an event loop.
      for (let i = 0; i < phases; i++) await setImmediate()
      for (const socket of [next, former]) {
        socket.terminate()
        if (socket.readyState !== socket.CLOSED) await once(socket, 'close')
      }
    }
    const sockets = () => queryObjects(WebSocket, { format: 'count' })
    await takeOver(0)
    const before = sockets()
    for (let phases = 0; phases < 30; phases++) await takeOver(phases)
    await until(() => sockets() <= before + 1)
  })
})

/** Encodes an MQTT packet of at most 127 bytes after its header. */
function packet(head: number, bytes: readonly number[]): Buffer {
  return Buffer.from([head, bytes.length, ...bytes])
}

test('the bytes of a block are those that were sent', async () => {
  await open('blocks', 'blocks/basic/raw')
  await listener.next('blocks')
  const { bytes } = blockOf(await offerOf(gateway.url), taggedData('0x', '0x0304'))
  await acceptedId(await post(gateway.url, bytes))
  for (;;) {
    const raw = await listener.next('blocks/basic/raw')
    if (bytesToHex(raw) === bytesToHex(bytes)) break
  }
})

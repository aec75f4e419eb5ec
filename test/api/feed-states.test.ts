import type { Client } from 'graphql-ws'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { present } from '../../src/lib/assert.ts'
import { socketClient } from '../support/client.ts'
import { serveLog } from '../support/serve-log.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'
import { blockIdOf, incomingBlock } from '../support/store-rows.ts'
import { until } from '../support/until.ts'
import {
  blockOf,
  genesisOutputs,
  offerOf,
  ownedBy,
  paymentOf,
  postBytes,
  slotNow,
  taggedData,
  user,
} from '../support/wallet.ts'

let gateway: TestGateway
let client: Client

beforeAll(async () => {
  gateway = await startGateway()
  client = socketClient(gateway.url)
})
afterAll(async () => {
  await client.dispose()
  await gateway.close()
})

/** Returns the states in the order in which they are sent, until the feed ends. */
async function statesOf(
  query: string,
  id: string,
  onFirst: () => Promise<unknown>,
): Promise<string[]> {
  const states: string[] = []
  const feed = client.iterate<{ it: { state: string } }>({ query, variables: { id } })
  const first = feed.next()
  await onFirst()
  for (let next = await first; !next.done; next = await feed.next()) {
    states.push(next.value.data?.it.state ?? '')
  }
  return states
}

const order = ['PENDING', 'ACCEPTED', 'COMMITTED', 'FINALIZED']

/** Some of the states may be skipped, but none is repeated or sent too late. */
function expectInOrder(states: readonly string[]): void {
  expect(states.at(-1)).toBe('FINALIZED')
  expect(states).toEqual(order.filter((state) => states.includes(state)))
}

describe('the feed of states (16)', () => {
  test('sends the states of a block that is not known yet', async () => {
    const { bytes, blockId } = blockOf(await offerOf(gateway.url), taggedData('0x', '0x01'))
    const query = 'subscription ($id: BlockId!) { it: blockState(id: $id) { state } }'
    expectInOrder(await statesOf(query, blockId, () => postBytes(gateway.url, bytes)))
  })

  test('sends the states of a transaction', async () => {
    const offer = await offerOf(gateway.url)
    const key = user(1)
    const spend = present((await genesisOutputs(gateway.url, key))[0], 'genesis output')
    const outputs = [ownedBy(user(2), 1_000_000_000n)]
    const creationSlot = slotNow(offer.network)
    const payment = paymentOf(offer.network, { spend, key, outputs, creationSlot })
    const { bytes } = blockOf(offer, payment.payload)
    const query = 'subscription ($id: TransactionId!) { it: transactionState(id: $id) { state } }'
    expectInOrder(await statesOf(query, payment.transactionId, () => postBytes(gateway.url, bytes)))
  })

  test('goes on after a block whose unlocks are wrong, because another one may carry the transaction', async () => {
    const offer = await offerOf(gateway.url)
    const owner = user(4)
    const spend = present((await genesisOutputs(gateway.url, owner))[0], 'genesis output')
    const outputs = [ownedBy(user(2), 1_000_000_000n)]
    const creationSlot = slotNow(offer.network)
    const [wrong, right] = [user(5), owner].map((key) =>
      paymentOf(offer.network, { spend, key, outputs, creationSlot }),
    )
    const { payload, transactionId } = present(wrong, 'a transaction with a wrong unlock')
    await postBytes(gateway.url, blockOf(offer, payload).bytes)
    const query = 'subscription ($id: TransactionId!) { it: transactionState(id: $id) { state } }'
    const variables = { id: transactionId }
    const feed = client.iterate<{ it: { state: string } }>({ query, variables })
    const states: string[] = []
    for (let next = await feed.next(); !next.done; next = await feed.next()) {
      states.push(next.value.data?.it.state ?? '')
      if (states.at(-1) !== 'FAILED') continue
      const { bytes } = blockOf(offer, present(right, 'the same transaction').payload)
      await postBytes(gateway.url, bytes)
    }
    expect(states).toContain('FAILED')
    expectInOrder(states.slice(states.indexOf('FAILED') + 1))
  })

  test('sends the state of the genesis transaction', async () => {
    const [output = ''] = await genesisOutputs(gateway.url, user(3))
    const query = 'subscription ($id: TransactionId!) { it: transactionState(id: $id) { state } }'
    expect(await statesOf(query, output.slice(0, 74), async () => {})).toEqual(['FINALIZED'])
  })

  test('ends at once when the client leaves before the first state', async () => {
    const id = `0x${'00'.repeat(36)}`
    const query = 'subscription ($id: BlockId!) { it: blockState(id: $id) { state } }'
    const feed = client.iterate({ query, variables: { id } })
    const pending = feed.next()
    await feed.return?.()
    expect(await pending).toEqual({ done: true, value: undefined })
  })
})

test('a block is read again only for a subscription whose block has changed, when a write is reported (16)', async () => {
  let reads = 0
  const served = await serveLog({
    changed: (read) => ({
      ...read,
      block: (blockId) => {
        reads++
        return read.block(blockId)
      },
    }),
  })
  const own = socketClient(served.url)
  const query = 'subscription ($id: BlockId!) { blockState(id: $id) { state } }'
  const feeds = Array.from({ length: 20 }, (_, n) =>
    own.iterate<{ blockState: { state: string } }>({ query, variables: { id: blockIdOf(n) } }),
  )
  const first = feeds.map((feed) => feed.next())
  await until(() => reads === feeds.length)
  await served.log.store.write.acceptBlocks([incomingBlock(7)])
  served.feed.blocks.notify()
  expect((await first[7])?.value?.data?.blockState.state).toBe('PENDING')
  expect(reads).toBe(feeds.length + 1)
  await own.dispose()
  await served.close()
})

test('milestones are sent one by one as they are committed (16)', async () => {
  const query = 'subscription { milestones { index updateCount } }'
  const feed = client.iterate<{ milestones: { index: number } }>({ query })
  const indices: number[] = []
  while (indices.length < 3) {
    const { value } = await feed.next()
    indices.push(value?.data?.milestones.index ?? -1)
  }
  const [first = 0] = indices
  expect(indices).toEqual([first, first + 1, first + 2])
  await feed.return?.()
})

test('a feed that is completed while the database is away sends no error under its id, which may be in use again', async () => {
  let isAway = false
  let failed = 0
  const served = await serveLog({
    changed: (read) => ({
      ...read,
      block: (blockId) => {
        if (!isAway) return read.block(blockId)
        failed++
        return Promise.reject(Object.assign(new Error('away'), { code: 'ECONNREFUSED' }))
      },
    }),
  })
  const url = `${served.url.replace('http', 'ws')}/graphql`
  const socket = new WebSocket(url, 'graphql-transport-ws')
  const received: string[] = []
  socket.on('message', (bytes) => received.push(String(bytes)))
  const send = (message: object) => socket.send(JSON.stringify(message))
  const subscribe = (query: string) => send({ type: 'subscribe', id: '1', payload: { query } })
  socket.on('open', () => send({ type: 'connection_init' }))
  await until(() => received.length === 1)
  isAway = true
  subscribe(`subscription { blockState(id: "${blockIdOf(1)}") { state } }`)
  await until(() => failed > 0)
  send({ type: 'complete', id: '1' })
  subscribe('{ __typename }')
  await until(() => received.includes('{"id":"1","type":"complete"}'))
  expect(received.slice(1)).toEqual([
    '{"id":"1","type":"next","payload":{"data":{"__typename":"Query"}}}',
    '{"id":"1","type":"complete"}',
  ])
  socket.terminate()
  await served.close()
})

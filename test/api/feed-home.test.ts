import type { Client } from 'graphql-ws'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { graphql, socketClient } from '../support/client.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'
import { blockOf, issuer, offerOf, postBytes, taggedData } from '../support/wallet.ts'

/** The subscriptions of a home page, over WebSocket with a whole gateway. */

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

test('new blocks are sent as they are stored, in order (21)', async () => {
  const query = `subscription ($issuer: AccountId) { blocks(filter: { issuerId: $issuer, payload: TAGGED_DATA,
    kind: BASIC }) { blockId slot issuerId content { header { protocolVersion } } } }`
  const variables = { issuer: issuer.accountId }
  const feed = client.iterate<{ blocks: { blockId: string } }>({ query, variables })
  const first = feed.next()
  // The subscription begins some time after it is sent, so blocks are submitted until one is received.
  const sent: string[] = []
  const post = async (n: number) => {
    const data = `0x${n.toString(16).padStart(4, '0')}` as const
    const { bytes, blockId } = blockOf(await offerOf(gateway.url), taggedData('0x', data))
    await postBytes(gateway.url, bytes)
    sent.push(blockId)
  }
  let isReceived = false
  void first.then(() => {
    isReceived = true
  })
  for (let n = 0; !isReceived; n++) await post(n)
  const begin = sent.indexOf((await first).value?.data?.blocks.blockId ?? '')
  expect(begin).toBeGreaterThanOrEqual(0)
  for (let n = 0; n < 3; n++) await post(1_000 + n)
  for (const id of sent.slice(begin + 1)) {
    expect((await feed.next()).value).toMatchObject({ data: { blocks: { blockId: id } } })
  }
  await feed.return?.()
})

test('the status is sent at each milestone, and equals that of the query (20)', async () => {
  const members = `committed { slot end } current { slot } lagSeconds addresses unspentOutputs accounts
    baseTokenSupply role mode newestMilestone { index }`
  const query = `subscription { statusChanged { ${members} } }`
  // biome-ignore lint/suspicious/noExplicitAny: the query determines the shape
  const feed = client.iterate<{ statusChanged: any }>({ query })
  const slots: number[] = []
  while (slots.length < 3) {
    const { value } = await feed.next()
    const status = value?.data?.statusChanged
    expect(status).toMatchObject({ role: 'WRITER', mode: 'EMBEDDED' })
    expect(status.newestMilestone.index).toBe(status.committed.slot)
    slots.push(status.committed.slot)
  }
  expect(slots).toEqual([...new Set(slots)].sort((a, b) => a - b))
  await feed.return?.()
  const { data } = await graphql(gateway.url, `{ status { ${members} } }`)
  expect(data.status.committed.slot).toBeGreaterThanOrEqual(slots.at(-1) ?? 0)
  const distribution = await graphql(
    gateway.url,
    '{ status { addresses unspentOutputs accounts } }',
  )
  const { addresses, unspentOutputs, accounts } = distribution.data.status
  // The counts of the genesis.
  expect(Number(addresses)).toBeGreaterThan(0)
  expect(Number(unspentOutputs)).toBeGreaterThanOrEqual(Number(addresses))
  expect(Number(accounts)).toBeGreaterThan(0)
})

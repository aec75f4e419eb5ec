import type { GraphQLError } from 'graphql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { graphql, socketClient } from '../../support/client.ts'
import { restJson } from '../../support/rest.ts'
import { startGateway, type TestGateway } from '../../support/start-gateway.ts'
import { until } from '../../support/until.ts'
import {
  blockOf,
  genesisOutputs,
  offerOf,
  ownedBy,
  paymentOf,
  postBytes,
  slotNow,
  untilCommitted,
  user,
} from '../../support/wallet.ts'

/** Compares activity and status in upstream mode with those of the node. Only what the node does not report differs. */

let node: TestGateway
let follower: TestGateway

beforeAll(async () => {
  node = await startGateway()
  follower = await startGateway({ env: { LEDGER: 'upstream', UPSTREAM_URLS: node.url } })
})
afterAll(async () => {
  await follower.close()
  await node.close()
})

const reported =
  'start milestones transactionsAccepted ledgerUpdates baseTokensMoved addresses newAddresses'
const unreported = 'blocks blockBytes transactionsFailed manaBurned'
const counts = 'committed { slot } addresses unspentOutputs accounts baseTokenSupply'

test('activity and status equal those of the node', async () => {
  const offer = await offerOf(node.url)
  const [spend] = await genesisOutputs(node.url, user(1))
  if (spend === undefined) throw new Error('no output of the genesis')
  const { amount } = (await restJson(`${node.url}/api/core/v3/outputs/${spend}`)).output
  const [paid, change] = [400_000_000n, BigInt(amount) - 400_000_000n]
  const outputs = [ownedBy(user(2), paid), ownedBy(user(1), change)]
  const creationSlot = slotNow(offer.network)
  const payment = paymentOf(offer.network, { spend, key: user(1), outputs, creationSlot })
  await postBytes(node.url, blockOf(offer, payment.payload).bytes)
  await untilCommitted(node.url, slotNow(offer.network))
  const queryDay = (url: string, day: string) =>
    graphql(
      url,
      `{ status { ${counts} } ${day}: activity(resolution: DAY) { ${reported} ${unreported} } }`,
    )
  // Both continue, so they are compared at a slot that they have in common.
  await until(async () => {
    const [one, other] = await Promise.all([
      queryDay(node.url, 'day'),
      queryDay(follower.url, 'day'),
    ])
    const [known, followed] = [one.data, other.data]
    if (known.status.committed.slot !== followed.status.committed.slot) return false
    if (known.day.at(-1).milestones !== followed.day.at(-1)?.milestones) return false
    expect(followed.status).toEqual(known.status)
    const nothing = Object.fromEntries(unreported.split(' ').map((name) => [name, null]))
    expect(followed.day).toEqual(known.day.map((day: object) => ({ ...day, ...nothing })))
    expect(known.day.at(-1).baseTokensMoved).toBe('400000000')
    return true
  })
  const { data } = await graphql(follower.url, '{ status { mode blocksPerSecond } }')
  expect(data.status).toEqual({ mode: 'UPSTREAM', blocksPerSecond: null })
})

test('a subscription to new blocks is rejected', async () => {
  const client = socketClient(follower.url)
  const feed = client.iterate({ query: 'subscription { blocks { blockId } }' })
  const { value } = await feed.next()
  expect(value?.errors?.map((error: GraphQLError) => error.extensions.code)).toEqual([
    'NOT_OFFERED_BY_NODES',
  ])
  await client.dispose()
})

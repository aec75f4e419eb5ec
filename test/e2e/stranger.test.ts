import type { Client } from 'graphql-ws'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { print } from '../../src/protocol/schema/schema.ts'
import { SignedTransaction } from '../../src/protocol/transaction.ts'
import { graphql, socketClient } from '../support/client.ts'
import { restJson } from '../support/rest.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'
import { acceptedId, post } from '../support/submit.ts'
import {
  blockOf,
  genesisOutputs,
  offerOf,
  ownedBy,
  paymentOf,
  type SignedPayment,
  slotNow,
  user,
} from '../support/wallet.ts'

/** A stranger without an account or key who submits a known transaction before its owner. */

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

test('a stranger who submits a transaction first with wrong unlocks does not block the owner', async () => {
  const { right, wrong } = await payments(1)
  const states = statesOf(right)
  // The node creates the block, so that the stranger needs neither account nor key.
  const first = await acceptedId(await post(gateway.url, json(wrong)))
  expect(await states.next()).toMatchObject({
    state: 'FAILED',
    failure: { code: 5 },
    blockId: first,
  })
  expect(await transactionOf(right)).toMatchObject({ state: 'FAILED', blockId: first })
  expect(await includedBlock(right)).toBe(404)

  const verify = 'query ($json: JSON) { verifyTransaction(input: { json: $json }) { outcome } }'
  const { data } = await graphql(gateway.url, verify, { json: JSON.parse(json(right)) })
  expect(data.verifyTransaction).toEqual({ outcome: 'ACCEPTED' })
  const own = blockOf(await offerOf(gateway.url), right.payload)
  await acceptedId(await post(gateway.url, own.bytes))
  expect(await states.next()).toMatchObject({
    state: 'ACCEPTED',
    failure: null,
    blockId: own.blockId,
  })
  // Another copy by the stranger comes too late.
  await acceptedId(await post(gateway.url, json(wrong)))
  expect(await states.next()).toMatchObject({ state: 'FINALIZED', blockId: own.blockId })
  expect(await states.end()).toBe(true)
  const unlocks = print(SignedTransaction, right.payload) as { unlocks: unknown }
  expect(await transactionOf(right)).toMatchObject({ state: 'FINALIZED', blockId: own.blockId })
  expect(await includedBlock(right)).toMatchObject({
    body: { payload: { unlocks: unlocks.unlocks } },
  })
  const metadata = await restJson(metadataUrl(right))
  expect(metadata).toMatchObject({ transactionState: 'finalized' })
  expect(metadata).not.toHaveProperty('transactionFailureReason')
})

test('a transaction that owner and stranger submit at once is never reported as failed (16)', async () => {
  for (let round = 0; round < 10; round++) {
    const { right, wrong } = await payments(2, round)
    const blocks = [json(wrong), json(right)]
    await Promise.all(blocks.map(async (body) => acceptedId(await post(gateway.url, body))))
    const seen = new Set<string>()
    for (let state = ''; state !== 'ACCEPTED'; ) {
      ;({ state } = await transactionOf(right))
      seen.add(state)
    }
    expect(seen).not.toContain('FAILED')
  }
})

/** Returns a payment signed with the key of the owner, and the same payment signed with another key. */
async function payments(
  owner: number,
  round = 0,
): Promise<{ right: SignedPayment; wrong: SignedPayment }> {
  const { network } = await offerOf(gateway.url)
  const key = user(owner)
  const spend = spends[round] ?? present((await genesisOutputs(gateway.url, key))[0], 'an output')
  const payment = {
    spend,
    key,
    outputs: [ownedBy(key, 1_000_000_000n)],
    creationSlot: slotNow(network),
  }
  const right = paymentOf(network, payment)
  spends[round + 1] = present(right.created[0], 'an output')
  return { right, wrong: paymentOf(network, { ...payment, key: user(3) }) }
}

/** The output that each round spends: the first one of the former round. */
const spends: Parameters<typeof paymentOf>[1]['spend'][] = []

function json({ payload }: SignedPayment): string {
  return JSON.stringify(print(SignedTransaction, payload))
}

const fields = 'state failure { code } blockId'

async function transactionOf({ transactionId }: SignedPayment) {
  const query = `{ transaction(id: "${transactionId}") { ${fields} } }`
  return (await graphql(gateway.url, query)).data.transaction
}

/** Subscribes to the states of a transaction, without the transient states PENDING and COMMITTED. */
function statesOf({ transactionId: id }: SignedPayment) {
  const query = `subscription ($id: TransactionId!) { it: transactionState(id: $id) { ${fields} } }`
  const feed = client.iterate<{ it: { state: string } }>({ query, variables: { id } })
  return {
    next: async () => {
      for (;;) {
        const { value } = await feed.next()
        const it = value?.data?.it
        if (it?.state !== 'PENDING' && it?.state !== 'COMMITTED') return it
      }
    },
    end: async () => (await feed.next()).done,
  }
}

function metadataUrl({ transactionId }: SignedPayment): string {
  return `${gateway.url}/api/core/v3/transactions/${transactionId}/metadata`
}

/** Returns the included block, or the HTTP status if there is none. */
async function includedBlock({ transactionId }: SignedPayment): Promise<unknown> {
  const path = `/api/core/v3/transactions/${transactionId}/included-block`
  const response = await fetch(gateway.url + path)
  return response.ok ? await response.json() : response.status
}

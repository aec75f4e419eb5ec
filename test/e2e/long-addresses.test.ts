import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { maxAddressLength, type RestrictedAddress } from '../../src/protocol/addresses.ts'
import { addressKey } from '../../src/protocol/ids.ts'
import type { BasicOutput } from '../../src/protocol/outputs.ts'
import { addressText } from '../../src/service/addresses/address-text.ts'
import { graphql } from '../support/client.ts'
import { type LedgerWorld, startWorld } from '../support/ledger-world.ts'
import { testId } from '../support/store-rows.ts'
import { genesisOutputs, ownedBy, paymentOf, user } from '../support/wallet.ts'

/** Restricted multi addresses with ten members, the longest addresses: each has a row of the log in itself and in every member. */

const outputsPerTransaction = 80
const transactions = 5
const amount = 100_000n

let world: LedgerWorld
let slot: number
/** The Bech32 texts of the owners. */
const owners: string[] = []

beforeAll(async () => {
  world = await startWorld()
  const moment = await world.moment()
  slot = moment.slot
  let [spend] = await genesisOutputs(world.gateway.url, user(1))
  let left = 1_000_000_000n
  for (let n = 0; n < transactions; n++) {
    const outputs = Array.from({ length: outputsPerTransaction }, (_, i) =>
      paymentTo(longAddress(n * outputsPerTransaction + i)),
    )
    left -= amount * BigInt(outputsPerTransaction)
    const all = [ownedBy(user(1), left), ...outputs]
    const { network } = moment.offer
    const payment = {
      spend: present(spend, 'funds'),
      key: user(1),
      outputs: all,
      creationSlot: slot,
    }
    const { payload, created } = paymentOf(network, payment)
    await world.submit(moment, payload)
    spend = created[0]
    for (const { unlockConditions } of outputs) {
      const [condition] = unlockConditions
      if (condition?.type === 0) owners.push(addressText('tst', addressKey(condition.address)))
    }
  }
  await world.pass(5)
})
afterAll(() => world.close())

function longAddress(n: number): RestrictedAddress {
  const members = Array.from({ length: 10 }, (_, i) => testId('Address', 32, 10 * n + i)).sort()
  const addresses = members.map((pubKeyHash) => ({
    address: { type: 0, pubKeyHash } as const,
    weight: 1,
  }))
  const address = { type: 40, addresses, threshold: 1 } as const
  return { type: 48, address, allowedCapabilities: '0xff01' }
}

function paymentTo(address: RestrictedAddress): BasicOutput {
  return { type: 0, amount, mana: 0n, unlockConditions: [{ type: 0, address }], features: [] }
}

describe('a slot with some thousand updates of the longest addresses', () => {
  test('is committed, and has all of them', async () => {
    expect(addressKey(longAddress(0))).toHaveLength(2 + 2 * maxAddressLength)
    const { data } = await graphql(
      world.gateway.url,
      `{ milestone(index: ${slot}) { updateCount transactionCount } }`,
    )
    // Of each output: the owner, the multi address in it, and its ten members. The rest of each transaction, and its spending.
    const count = transactions * (12 * outputsPerTransaction + 2)
    expect(data.milestone).toEqual({ updateCount: `${count}`, transactionCount: transactions })
  })

  test('is followed by lists that continue after such an address', async () => {
    const found: string[] = []
    for (let after = ''; ; ) {
      const { data } = await graphql(
        world.gateway.url,
        `{ addresses(first: 37 ${after}) { nodes { bech32 balance { total } } pageInfo { hasNextPage endCursor } } }`,
      )
      const { nodes, pageInfo } = data.addresses
      for (const { bech32, balance } of nodes) if (balance.total === `${amount}`) found.push(bech32)
      if (!pageInfo.hasNextPage) break
      after = `after: "${pageInfo.endCursor}"`
    }
    expect(found.toSorted()).toEqual(owners.toSorted())
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { hexToBytes } from '../../src/lib/hex.ts'
import type { MultiAddress } from '../../src/protocol/addresses.ts'
import { encodeBech32 } from '../../src/protocol/bech32.ts'
import { Block } from '../../src/protocol/block.ts'
import { addressKey } from '../../src/protocol/ids.ts'
import type { OutputId } from '../../src/protocol/primitives.ts'
import { print } from '../../src/protocol/schema/schema.ts'
import type { Unlock } from '../../src/protocol/unlocks.ts'
import { startFromGenesis } from '../support/genesis-gateway.ts'
import { heldBy, multiOf, multiUnlock, oddPaymentOf } from '../support/odd-outputs.ts'
import { restJson } from '../support/rest.ts'
import type { TestGateway } from '../support/start-gateway.ts'
import { acceptedId, post } from '../support/submit.ts'
import { until } from '../support/until.ts'
import { blockOf, offerOf, ownedBy, slotNow, user } from '../support/wallet.ts'

/** Transactions that spend several outputs of multi addresses, with unlocks that only nodes accept (codec reference 19). */

const [alice, bob, carol] = [user(1), user(2), user(3)]
const pair = multiOf([alice, bob])
const sharing = multiOf([alice, carol])
const amount = 50_000_000n

let gateway: TestGateway
let ofPair: readonly OutputId[]
let ofSharing: readonly OutputId[]
beforeAll(async () => {
  const addresses = [pair, pair, pair, pair, pair, pair, sharing, sharing]
  gateway = await startFromGenesis(addresses.map((address) => heldBy(address, amount)))
  ofPair = await outputsOf(pair)
  ofSharing = await outputsOf(sharing)
})
afterAll(() => gateway.close())

const signedByPair = (hash: Uint8Array) => multiUnlock(pair, [alice, bob], hash)
const reference: Unlock = { type: 1, reference: 0 }

describe('one transaction spends outputs of multi addresses:', () => {
  test('two of one address with a reference to its multi unlock, in bytes and in JSON', async () => {
    for (const [form, spent] of [
      ['bytes', ofPair.slice(0, 2)],
      ['json', ofPair.slice(2, 4)],
    ] as const) {
      const unlock = (hash: Uint8Array) => [signedByPair(hash), reference]
      expect(await outcomeOf({ form, spent, unlock })).toEqual(['accepted', undefined])
      for (const id of spent) expect((await metadataOf(id)).spent).toBeDefined()
    }
  })

  test('one each of two addresses with a common key, which signs in both multi unlocks', async () => {
    const spent = [first(ofPair.slice(4)), first(ofSharing)]
    const unlock = (hash: Uint8Array) => [
      signedByPair(hash),
      multiUnlock(sharing, [alice, carol], hash),
    ]
    expect(await outcomeOf({ form: 'bytes', spent, unlock })).toEqual(['accepted', undefined])
  })

  test('but fails with reason 8 if the reference is used for another address', async () => {
    const spent = [first(ofPair.slice(5)), first(ofSharing.slice(1))]
    const unlock = (hash: Uint8Array) => [signedByPair(hash), reference]
    expect(await outcomeOf({ form: 'bytes', spent, unlock })).toEqual(['failed', 8])
  })
})

interface Spending {
  readonly form: 'bytes' | 'json'
  readonly spent: readonly OutputId[]
  unlock(signingHash: Uint8Array): readonly Unlock[]
}

/** Submits the transaction and returns its state and failure reason once it is accepted or has failed. */
async function outcomeOf({ form, spent, unlock }: Spending) {
  const offer = await offerOf(gateway.url)
  const { payload, transactionId } = oddPaymentOf(offer.network, {
    spend: spent,
    outputs: [ownedBy(bob, amount * BigInt(spent.length))],
    creationSlot: slotNow(offer.network),
    unlock,
  })
  const { block, bytes } = blockOf(offer, payload)
  const body = form === 'bytes' ? bytes : JSON.stringify(print(Block, block))
  await acceptedId(await post(gateway.url, body))
  const path = `${gateway.url}/api/core/v3/transactions/${transactionId}/metadata`
  const metadata = await until(async () => {
    const metadata = await restJson(path)
    return metadata.transactionState !== 'pending' && metadata
  })
  // An accepted transaction may already be committed.
  const state = metadata.transactionState === 'failed' ? 'failed' : 'accepted'
  return [state, metadata.transactionFailureReason]
}

function metadataOf(id: OutputId) {
  return restJson(`${gateway.url}/api/core/v3/outputs/${id}/metadata`)
}

async function outputsOf(address: MultiAddress): Promise<readonly OutputId[]> {
  const text = encodeBech32('tst', hexToBytes(addressKey(address)))
  const path = `/api/explorer/v2/ledger/updates/by-address/${text}`
  const { items } = await restJson(`${gateway.url}${path}?sort=oldest`)
  return items.map(({ outputId }: { readonly outputId: OutputId }) => outputId)
}

function first(ids: readonly OutputId[]): OutputId {
  return present(ids[0], 'an output of the genesis')
}

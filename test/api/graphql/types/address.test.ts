import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { decayedMana, potentialMana } from '../../../../src/ledger/mana.ts'
import { logEntries } from '../../../../src/ledger/updates.ts'
import { present } from '../../../../src/lib/assert.ts'
import { type Hex, hexToBytes } from '../../../../src/lib/hex.ts'
import type { Result } from '../../../../src/lib/result.ts'
import { developmentParameters } from '../../../../src/node/embedded/development-parameters.ts'
import type { LedgerSource } from '../../../../src/node/source.ts'
import { encodeBech32 } from '../../../../src/protocol/bech32.ts'
import { addressKey, outputId } from '../../../../src/protocol/ids.ts'
import { networkOf } from '../../../../src/protocol/network.ts'
import { type BasicOutput, Output } from '../../../../src/protocol/outputs.ts'
import type { TransactionId } from '../../../../src/protocol/primitives.ts'
import { encode } from '../../../../src/protocol/schema/schema.ts'
import { minimumAmount } from '../../../../src/protocol/score.ts'
import { manaOfAddress } from '../../../../src/service/addresses/mana-of-address.ts'
import type { CreatedOutput, Store } from '../../../../src/store/contract.ts'
import {
  databases,
  openedStore,
  type TestDatabase,
  takenLease,
} from '../../../support/databases.ts'
import { askSchema } from '../../../support/graphql.ts'
import { unwrap } from '../../../support/log-store.ts'
import { blockIdOf, slotCommit, testGenesis, testId } from '../../../support/store-rows.ts'

const parameters = developmentParameters(0)
const source = { network: networkOf(parameters) } as LedgerSource
const person = (n: number) => ({ type: 0, pubKeyHash: testId('Address', 32, n) }) as const
/** Alice has outputs of each kind of condition, `full` as many as mana is computed for, `over` one more, and `nobody` none. */
const [alice, full, over, nobody] = [person(1), person(2), person(3), person(4)]
const tokenId = testId('FoundryId', 38, 1)

type Conditions = BasicOutput['unlockConditions']

function basic(address: typeof alice, amount: bigint, others: Conditions = []): BasicOutput {
  const unlockConditions = [{ type: 0, address } as const, ...others]
  return { type: 0, amount, mana: 0n, unlockConditions, features: [] }
}

const outputs: readonly BasicOutput[] = [
  { ...basic(alice, 10_000_000n), mana: 500n },
  { ...basic(alice, 20_000_000n, [{ type: 2, slot: 100 }]), mana: 70n },
  basic(alice, 40_000_000n, [{ type: 3, returnAddress: nobody, slot: 100 }]),
  {
    ...basic(alice, 80_000_000n, [{ type: 1, returnAddress: nobody, amount: 1_000_000n }]),
    features: [{ type: 5, id: tokenId, amount: 1n << 255n }],
  },
  ...Array.from({ length: 10_000 }, () => basic(full, 50_000n)),
  ...Array.from({ length: 10_001 }, () => basic(over, 50_000n)),
]

/** Of slot 1, so that mana decays and is generated. */
const transactionId = `0x${'ab'.repeat(32)}01000000` as TransactionId
/** The newest committed slot: three epochs later. */
const newest = 3 * 8_192 + 5

let database: TestDatabase
let store: Store

beforeAll(async () => {
  database = await present(databases[0], 'database').create()
  store = await openedStore(database.url)
  const term = await takenLease(store)
  const created = outputs.map(
    (output, index): CreatedOutput => ({
      // More outputs than a transaction can have.
      outputId: outputId(transactionId, index),
      bytes: encode(Output, output),
      blockId: blockIdOf(0),
      bookedSlot: newest,
    }),
  )
  const entries = outputs.slice(0, 4).flatMap((output, index) => {
    const id = outputId(transactionId, index)
    return logEntries(parameters, { outputId: id, output, isSpent: false, slot: newest })
  })
  const genesis = testGenesis({ outputs: created, commit: slotCommit(newest, entries) })
  unwrap(await store.write.initialize(term, genesis))
})
afterAll(async () => {
  await store.close()
  await database.remove()
})

const services = () => ({ store, source, parameters })

function bech32(address: typeof alice): string {
  return encodeBech32('tst', hexToBytes(addressKey(address)))
}

async function ask(address: string, fields: string) {
  const query = `query ($address: String!) { address(address: $address) { ${fields} } }`
  return askSchema(services(), query, { address })
}

describe('an address', () => {
  test('has its base tokens by condition', async () => {
    const fields = `bech32
      balance { milestoneIndex total available timelocked storageDeposit expiring outputCount }
      nativeTokens { nodes { tokenId total available timelocked expiring } }`
    expect((await ask(bech32(alice), fields)).data.address).toEqual({
      bech32: bech32(alice),
      balance: {
        milestoneIndex: newest,
        total: '110000000',
        available: '109000000',
        timelocked: '0',
        storageDeposit: '1000000',
        expiring: '0',
        outputCount: '3',
      },
      nativeTokens: {
        nodes: [
          {
            tokenId,
            total: `0x8${'0'.repeat(63)}`,
            available: `0x8${'0'.repeat(63)}`,
            timelocked: '0x0',
            expiring: '0x0',
          },
        ],
      },
    })
    expect((await ask(bech32(nobody), 'balance { total outputCount }')).data.address).toEqual({
      balance: { total: '40000000', outputCount: '1' },
    })
    expect(
      (await ask(bech32(person(9)), `${fields} mana { reason total { total } }`)).data,
    ).toEqual({
      address: {
        bech32: bech32(person(9)),
        balance: {
          milestoneIndex: newest,
          total: '0',
          available: '0',
          timelocked: '0',
          storageDeposit: '0',
          expiring: '0',
          outputCount: '0',
        },
        nativeTokens: { nodes: [] },
        mana: { reason: null, total: { total: '0' } },
      },
    })
  })

  test('has pages of its native tokens', async () => {
    const whole = await ask(bech32(alice), 'nativeTokens { edges { cursor node { tokenId } } }')
    const { edges } = whole.data.address.nativeTokens
    expect(edges).toEqual([{ cursor: expect.any(String), node: { tokenId } }])
    const info = 'nodes { tokenId } pageInfo { hasNextPage hasPreviousPage }'
    const tokens = `none: nativeTokens(first: 0) { ${info} }
      rest: nativeTokens(after: "${edges[0].cursor}") { ${info} }`
    expect((await ask(bech32(alice), tokens)).data.address).toEqual({
      none: { nodes: [], pageInfo: { hasNextPage: true, hasPreviousPage: false } },
      rest: { nodes: [], pageInfo: { hasNextPage: false, hasPreviousPage: true } },
    })
    const refused = await ask(bech32(alice), 'nativeTokens(first: 1001) { nodes { tokenId } }')
    expect(refused.errors?.map(({ extensions }) => extensions.code)).toEqual([
      'PAGE_SIZE_OUT_OF_RANGE',
    ])
  })

  test('has the outputs of its balance', async () => {
    const page = `unspentOutputs(first: 2) {
      nodes { outputId } edges { cursor } pageInfo { hasNextPage hasPreviousPage endCursor } }`
    const { unspentOutputs } = (await ask(bech32(alice), page)).data.address
    expect(unspentOutputs.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false })
    const { endCursor } = unspentOutputs.pageInfo
    const rest = await ask(
      bech32(alice),
      `unspentOutputs(after: "${endCursor}") { nodes { outputId } pageInfo { hasNextPage hasPreviousPage } }`,
    )
    const ids = [...unspentOutputs.nodes, ...rest.data.address.unspentOutputs.nodes]
    expect(ids.map((node: { outputId: Hex }) => node.outputId)).toEqual(
      [0, 1, 3].map((index) => outputId(transactionId, index)),
    )
    expect(rest.data.address.unspentOutputs.pageInfo).toEqual({
      hasNextPage: false,
      hasPreviousPage: true,
    })
  })

  test('has its total at a milestone', async () => {
    const response = await ask(bech32(alice), `now: totalAt(milestoneIndex: ${newest})`)
    expect(response.data.address).toEqual({ now: '110000000' })
    const early = await ask(bech32(alice), 'totalAt(milestoneIndex: 0)')
    expect(early.data.address).toEqual({ totalAt: '0' })
    const late = await ask(bech32(alice), `bech32 totalAt(milestoneIndex: ${newest + 1})`)
    expect(late.data.address).toEqual({ bech32: bech32(alice), totalAt: null })
    expect(late.errors?.map(({ extensions }) => extensions)).toEqual([
      expect.objectContaining({ code: 'MILESTONE_NOT_COMMITTED', newest }),
    ])
  })

  test('of another network is refused, and so is a malformed one', async () => {
    const other = encodeBech32('smr', hexToBytes(addressKey(alice)))
    for (const [text, code] of [
      [other, 'ADDRESS_OF_ANOTHER_NETWORK'],
      ['tst1', 'ADDRESS_MALFORMED'],
    ] as const) {
      const refused = await ask(text, 'bech32')
      expect(refused.errors?.map(({ extensions }) => extensions.code)).toEqual([code])
    }
  })
})

describe('the mana of an address', () => {
  const fields = `mana { milestoneIndex reason total { total stored potential written }
    available { total stored potential written } }`

  /** Sums by the rules for one output, which vectors prove. */
  function manaOf(some: readonly BasicOutput[]) {
    let [stored, potential, written] = [0n, 0n, 0n]
    for (const output of some) {
      const minimum = minimumAmount(parameters.storageScoreParameters, output)
      const { amount } = output
      stored += value(decayedMana(parameters, output.mana, 1, newest))
      potential += value(potentialMana(parameters, { amount, minimumAmount: minimum }, 1, newest))
      written += output.mana
    }
    const total = stored + potential
    return {
      total: `${total}`,
      stored: `${stored}`,
      potential: `${potential}`,
      written: `${written}`,
    }
  }

  test('is that of its outputs', async () => {
    const owned = outputs.slice(0, 4).filter((_, i) => i !== 2)
    const expected = manaOf(owned)
    expect(Number(expected.stored)).toBeLessThan(570)
    expect((await ask(bech32(alice), fields)).data.address.mana).toEqual({
      milestoneIndex: newest,
      reason: null,
      total: expected,
      available: expected,
    })
  })

  test('is exact up to 10,000 outputs, and absent above', async () => {
    const [response, none] = await Promise.all([
      ask(bech32(full), fields),
      ask(bech32(over), fields),
    ])
    expect(response.data.address.mana.total).toEqual(manaOf(outputs.slice(4, 10_004)))
    expect(none.data.address.mana).toEqual({
      milestoneIndex: null,
      reason: 'TOO_MANY_OUTPUTS',
      total: null,
      available: null,
    })
  })

  test('is absent while slots are committed faster than it is computed', async () => {
    const term = await takenLeaseAgain()
    let slot = newest
    const latestMilestone = async () => {
      slot++
      unwrap(await store.write.closeSlots(term, slot))
      unwrap(await store.write.commitSlots(term, [slotCommit(slot)]))
      return store.read.latestMilestone()
    }
    const read = { ...store.read, latestMilestone }
    const mana = await manaOfAddress({ store: { ...store, read }, source }, addressKey(alice))
    expect(mana).toEqual({ reason: 'LEDGER_MOVED' })
  })
})

function value(result: Result<bigint, object>): bigint {
  return present(result.ok ? result.value : undefined, 'mana')
}

async function takenLeaseAgain(): Promise<number> {
  await store.write.releaseLease(1)
  return takenLease(store)
}

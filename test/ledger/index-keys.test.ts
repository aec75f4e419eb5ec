import { describe, expect, test } from 'vitest'
import { expiringKeysOf, indexKeysOf } from '../../src/ledger/index-keys.ts'
import { addressKey, chainIdOf } from '../../src/protocol/ids.ts'
import type {
  AnchorOutput,
  BasicOutput,
  DelegationOutput,
  NftOutput,
  Output,
} from '../../src/protocol/outputs.ts'
import type { AnchorId, NftId } from '../../src/protocol/primitives.ts'
import { outputIdOf, testId } from '../support/store-rows.ts'

const outputId = outputIdOf(1)
const person = (n: number) => ({ type: 0, pubKeyHash: testId('Address', 32, n) }) as const
const [alice, bob] = [person(1), person(2)]
const account = { type: 8, accountId: testId('AccountId', 32, 1) } as const
const multi = {
  type: 40,
  addresses: [{ address: alice, weight: 1 }],
  threshold: 1,
} as const
const restricted = { type: 48, address: bob, allowedCapabilities: '0x' } as const
const tokenId = testId('FoundryId', 38, 1)

const basic: BasicOutput = {
  ...{ type: 0, amount: 1n, mana: 0n },
  unlockConditions: [
    { type: 0, address: alice },
    { type: 1, returnAddress: bob, amount: 1n },
    { type: 3, returnAddress: bob, slot: 9 },
  ],
  features: [
    { type: 0, address: alice },
    { type: 4, tag: '0xabcd' },
    { type: 5, id: tokenId, amount: 1n },
  ],
}

const nft: NftOutput = {
  ...{ type: 4, amount: 1n, mana: 0n, nftId: `0x${'00'.repeat(32)}` as NftId },
  unlockConditions: [{ type: 0, address: multi }],
  features: [{ type: 0, address: restricted }],
  immutableFeatures: [{ type: 1, address: account }],
}

const delegation: DelegationOutput = {
  ...{ type: 5, amount: 1n, delegatedAmount: 1n, startEpoch: 0, endEpoch: 0 },
  delegationId: testId('DelegationId', 32, 1),
  validatorAddress: account,
  unlockConditions: [{ type: 0, address: alice }],
}

const anchor: AnchorOutput = {
  ...{ type: 2, amount: 1n, mana: 0n, anchorId: `0x${'00'.repeat(32)}` as AnchorId, stateIndex: 0 },
  unlockConditions: [
    { type: 4, address: alice },
    { type: 5, address: bob },
  ],
  features: [],
  immutableFeatures: [],
}

describe('the index keys of an output', () => {
  const rows: readonly (readonly [string, Output, readonly (readonly [string, string])[]])[] = [
    [
      'contain conditions, features, tag and token of a basic output',
      basic,
      [
        ['EXPIRATION_RETURN', addressKey(bob)],
        ['EXPIRING_OWNER', addressKey(alice)],
        ['NATIVE_TOKEN', tokenId],
        ['SENDER', addressKey(alice)],
        ['STORAGE_DEPOSIT_RETURN', addressKey(bob)],
        ['TAG', '0xabcd'],
      ],
    ],
    [
      'contain the chain that it begins, the members of a multi address and the inner address of a restricted one',
      nft,
      [
        ['CHAIN', chainIdOf(outputId)],
        ['CHAIN_HOLDER', `0x04${addressKey(multi).slice(2)}`],
        ['HOLDER', addressKey(multi)],
        ['ISSUER', addressKey(account)],
        ['MULTI_MEMBER', addressKey(alice)],
        ['MULTI_OF_MEMBER', `${addressKey(alice)}${addressKey(multi).slice(2)}`],
        ['RESTRICTED_INNER', addressKey(bob)],
        ['SENDER', addressKey(restricted)],
      ],
    ],
    [
      'contain its validator',
      delegation,
      [
        ['CHAIN', delegation.delegationId],
        ['CHAIN_HOLDER', `0x05${addressKey(alice).slice(2)}`],
        ['HOLDER', addressKey(alice)],
        ['VALIDATOR', addressKey(account)],
      ],
    ],
    [
      'contain the account of an implicit account creation address',
      { ...basic, unlockConditions: [{ type: 0, address: { ...alice, type: 32 } }], features: [] },
      [
        ['CHAIN', chainIdOf(outputId)],
        ['HOLDER', addressKey({ ...alice, type: 32 })],
      ],
    ],
    [
      'contain its state controller, which holds it, and its governor',
      anchor,
      [
        ['CHAIN', chainIdOf(outputId)],
        ['GOVERNOR', addressKey(bob)],
        ['HOLDER', addressKey(alice)],
        ['STATE_CONTROLLER', addressKey(alice)],
      ],
    ],
  ]

  test.each(rows)('%s', (_name, output, expected) => {
    const keys = indexKeysOf(outputId, output).map(({ kind, value }) => [kind, value])
    expect(keys.sort()).toEqual(expected)
  })

  test('contain the holder that an expiration determines', () => {
    expect(expiringKeysOf(basic, 8)).toEqual([{ kind: 'HOLDER', value: addressKey(alice) }])
    expect(expiringKeysOf(basic, 9)).toEqual([{ kind: 'HOLDER', value: addressKey(bob) }])
    expect(expiringKeysOf(delegation, 9)).toEqual([])
    const expiring: NftOutput = {
      ...nft,
      unlockConditions: [{ type: 0, address: multi }, ...basic.unlockConditions.slice(-1)],
    }
    const holder = (kind: string, key: string) => ({ kind, value: key })
    expect(indexKeysOf(outputId, expiring).map(({ kind }) => kind)).not.toContain('CHAIN_HOLDER')
    expect(expiringKeysOf(expiring, 9)).toEqual([
      holder('HOLDER', addressKey(bob)),
      holder('CHAIN_HOLDER', `0x04${addressKey(bob).slice(2)}`),
    ])
  })
})

import { describe, expect, test } from 'vitest'
import { type Holding, holdingAt, slotsAwaited } from '../../src/ledger/holdings.ts'
import { addressKey } from '../../src/protocol/ids.ts'
import type { BasicOutput, NftOutput, Output } from '../../src/protocol/outputs.ts'
import { testId } from '../support/store-rows.ts'

const person = (n: number) => ({ type: 0, pubKeyHash: testId('Address', 32, n) }) as const
const [alice, bob, carol] = [person(1), person(2), person(3)]
const owner = { type: 0, address: alice } as const
const account = { type: 8, accountId: testId('AccountId', 32, 1) } as const
const tokenId = testId('FoundryId', 38, 1)

type Conditions = BasicOutput['unlockConditions']

function basic(conditions: Conditions, features: BasicOutput['features'] = []): BasicOutput {
  return { type: 0, amount: 100n, mana: 0n, unlockConditions: [owner, ...conditions], features }
}

const deposit = { type: 1, returnAddress: bob, amount: 30n } as const
const timelock = { type: 2, slot: 50 } as const
const expiration = { type: 3, returnAddress: carol, slot: 80 } as const
const token = { type: 5, id: tokenId, amount: 7n } as const

const nft: NftOutput = {
  ...{ type: 4, amount: 100n, mana: 0n, nftId: testId('NftId', 32, 1) },
  unlockConditions: [owner, timelock],
  features: [],
  immutableFeatures: [],
}

/** Returns the owner's name and the amounts that are not zero. */
function summaryOf({ owner: key, token: held, ...parts }: Holding) {
  const names = { alice, bob, carol, account }
  const holder = Object.entries(names).find(([, address]) => addressKey(address) === key)?.[0]
  const amounts = Object.entries(parts).filter(([, amount]) => amount !== 0n)
  return {
    holder,
    ...Object.fromEntries(amounts),
    ...(held && { [`${held.part} token`]: held.amount }),
  }
}

describe('an output as part of a balance', () => {
  const rows: readonly (readonly [string, Output, number, object])[] = [
    ['is available without conditions', basic([]), 1, { holder: 'alice', available: 100n }],
    [
      'is timelocked as a whole',
      basic([deposit, timelock]),
      49,
      { holder: 'alice', timelocked: 100n },
    ],
    [
      'is no longer timelocked when the slot of its timelock is reached',
      basic([deposit, timelock]),
      50,
      { holder: 'alice', available: 70n, storageDeposit: 30n },
    ],
    [
      'is expiring before its expiration',
      basic([deposit, expiration], [token]),
      79,
      { holder: 'alice', expiring: 70n, storageDeposit: 30n, 'expiring token': 7n },
    ],
    [
      'belongs to the return address after its expiration, and the deposit is still owed',
      basic([deposit, expiration], [token]),
      80,
      { holder: 'carol', available: 70n, storageDeposit: 30n, 'available token': 7n },
    ],
    [
      'is available as a whole if it expired to the owner of the deposit',
      basic([{ ...deposit, returnAddress: carol }, expiration]),
      80,
      { holder: 'carol', available: 100n },
    ],
    [
      'is available as a whole if its owner is owed the deposit',
      basic([{ ...deposit, returnAddress: alice }]),
      1,
      { holder: 'alice', available: 100n },
    ],
    [
      'is expiring even if it expires to its owner',
      basic([{ ...expiration, returnAddress: alice }]),
      79,
      { holder: 'alice', expiring: 100n },
    ],
    [
      'is timelocked if its timelock outlasts its expiration',
      basic([{ type: 2, slot: 90 }, expiration], [token]),
      80,
      { holder: 'carol', timelocked: 100n, 'timelocked token': 7n },
    ],
    ['is timelocked if it is a timelocked NFT', nft, 49, { holder: 'alice', timelocked: 100n }],
    [
      'belongs to the state controller of an anchor',
      {
        ...{ type: 2, amount: 100n, mana: 0n, anchorId: testId('AnchorId', 32, 1), stateIndex: 0 },
        unlockConditions: [
          { type: 4, address: bob },
          { type: 5, address: carol },
        ],
        features: [],
        immutableFeatures: [],
      },
      1,
      { holder: 'bob', available: 100n },
    ],
    [
      'belongs with its tokens to the account of a foundry',
      {
        ...{ type: 3, amount: 100n, serialNumber: 1 },
        tokenScheme: { type: 0, mintedTokens: 7n, meltedTokens: 0n, maximumSupply: 9n },
        unlockConditions: [{ type: 6, address: account }],
        features: [token],
        immutableFeatures: [],
      },
      1,
      { holder: 'account', available: 100n, 'available token': 7n },
    ],
  ]

  test.each(rows)('%s', (_name, output, reached, expected) => {
    expect(summaryOf(holdingAt(output, reached))).toEqual(expected)
  })

  test('changes only in the slots that it awaits', () => {
    expect(slotsAwaited(basic([timelock, expiration]))).toEqual([50, 80])
    expect(slotsAwaited(basic([timelock, { ...expiration, slot: 50 }]))).toEqual([50])
    expect(slotsAwaited(basic([deposit]))).toEqual([])
    const output = basic([deposit, timelock, expiration], [token])
    const changes = Array.from({ length: 99 }, (_, i) => i + 1).filter(
      (slot) =>
        JSON.stringify(summaryOf(holdingAt(output, slot)), text) !==
        JSON.stringify(summaryOf(holdingAt(output, slot - 1)), text),
    )
    expect(changes).toEqual([50, 80])
  })
})

function text(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}

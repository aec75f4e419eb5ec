import { describe, expect, test } from 'vitest'
import type { AccountEntry } from '../../src/ledger/accounts.ts'
import { emptyEntry } from '../../src/ledger/accounts.ts'
import { chooseCommittee, choosingSlot, isCandidacy } from '../../src/ledger/committee.ts'
import type { AccountId } from '../../src/protocol/primitives.ts'
import { semanticParameters } from '../support/semantic-parameters.ts'

/** Tests which accounts are candidates and which are chosen, as on a node (ledger reference 12.5). */

/** Epochs of 64 slots. Candidacies are announced up to 10 slots before the end of an epoch. */
const parameters = {
  ...semanticParameters('standard'),
  genesisSlot: 0,
  slotsPerEpochExponent: 6,
  epochNearingThreshold: 10,
  targetCommitteeSize: 2,
}

describe('an announcement', () => {
  const rows = [
    ['ok - in the first slot of the epoch', 64, 9, true],
    ['ok - in the slot in which the committee is chosen', 127 - 10, 9, true],
    ['fail - a slot later', 127 - 9, 9, false],
    ['fail - in the last slot', 127, 9, false],
    ['ok - the stake ends with the next epoch', 64, 2, true],
    ['fail - the stake ends with the epoch', 64, 1, false],
    ['fail - the stake has ended', 64, 0, false],
  ] as const
  test.each(rows)('%s', (_name, slot, stakeEndEpoch, isOne) => {
    expect(isCandidacy(parameters, { slot }, { stakeEndEpoch })).toBe(isOne)
  })

  test('fail - by an unknown account', () => {
    expect(isCandidacy(parameters, { slot: 64 }, undefined)).toBe(false)
  })

  test('is always too late if the threshold is longer than an epoch', () => {
    const long = { ...parameters, epochNearingThreshold: 64 }
    for (let slot = 64; slot < 128; slot++) {
      expect(isCandidacy(long, { slot }, { stakeEndEpoch: 9 })).toBe(false)
    }
  })
})

describe('the slot in which a committee is chosen', () => {
  const rows = [
    ['is before the end of the epoch by the threshold', 10, 64, 127 - 10],
    ['is the first slot of an epoch that is shorter than the threshold', 64, 100, 64],
    ['is not the genesis slot', 64, 0, 1],
  ] as const
  test.each(rows)('%s', (_name, epochNearingThreshold, slot, choosing) => {
    expect(choosingSlot({ ...parameters, epochNearingThreshold }, slot)).toBe(choosing)
  })
})

describe('a committee prefers', () => {
  const one = candidate('11', {
    validatorStake: 5n,
    delegationStake: 5n,
    stakeEndEpoch: 7,
    fixedCost: 3n,
  })
  const rows: readonly (readonly [string, Partial<AccountEntry>])[] = [
    [
      'the larger pool, regardless of other values',
      { delegationStake: 6n, stakeEndEpoch: 1, fixedCost: 99n },
    ],
    [
      'the larger own stake among equal pools',
      { validatorStake: 6n, delegationStake: 4n, stakeEndEpoch: 1 },
    ],
    ['the later end among equal stakes', { stakeEndEpoch: 8, fixedCost: 99n }],
    ['the lower fixed cost among equal ends', { fixedCost: 2n }],
  ]
  test.each(rows)('%s', (_name, members) => {
    // Its id is smaller; ids are compared last.
    const better = { ...one, ...members, accountId: idOf('00') }
    expect(chosen([one, better])).toEqual([better.accountId, one.accountId])
    expect(chosen([better, one])).toEqual([better.accountId, one.accountId])
  })

  test('the greater id among equal candidates, up to the target size', () => {
    const [a, b, c] = ['01', '02', '03'].map((byte) => ({ ...one, accountId: idOf(byte) }))
    if (a === undefined || b === undefined || c === undefined) throw new Error('three candidates')
    expect(chosen([b, c, a])).toEqual([c.accountId, b.accountId])
  })
})

function chosen(candidates: readonly AccountEntry[]): AccountId[] {
  return chooseCommittee(parameters, candidates).map(({ accountId }) => accountId)
}

function candidate(byte: string, members: Partial<AccountEntry>): AccountEntry {
  return { ...emptyEntry(idOf(byte), 0), ...members }
}

function idOf(byte: string): AccountId {
  return `0x${byte.repeat(32)}` as AccountId
}

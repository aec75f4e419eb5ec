import { describe, expect, test } from 'vitest'
import { claimReward, type RewardClaim, rewardClaimOf } from '../../src/ledger/reward-claims.ts'
import { epochRewards, subslotOf } from '../../src/ledger/rewards.ts'
import { Output } from '../../src/protocol/outputs.ts'
import { AccountId, OutputId } from '../../src/protocol/primitives.ts'
import { firstSlotOfEpoch } from '../../src/protocol/slots.ts'
import { parsed } from '../support/parsed.ts'
import { semanticParameters } from '../support/semantic-parameters.ts'

/** Tests cases that the scenarios of the vectors, which use `verify`, do not cover. */

const parameters = semanticParameters('rewards')
const accountId = parsed(AccountId, `0x${'11'.repeat(32)}`)
const zero = `0x${'00'.repeat(32)}`
const outputId = parsed(OutputId, `0x${'44'.repeat(32)}050000000000`)
const key = { type: 0, pubKeyHash: `0x${'33'.repeat(32)}` }
const held = { amount: '9', unlockConditions: [{ type: 0, address: key }] }
const delegation = {
  ...held,
  type: 5,
  delegatedAmount: '7',
  delegationId: zero,
  validatorAddress: { type: 8, accountId },
  startEpoch: 2,
  endEpoch: 0,
}
const account = { ...held, type: 1, mana: '0', accountId, foundryCounter: 0 }
const issuer = {
  type: 6,
  expirySlot: 9,
  blockIssuerKeys: [{ type: 0, pubKeyHash: key.pubKeyHash }],
}
const staking = { type: 7, stakedAmount: '5', fixedCost: '1', startEpoch: 1, endEpoch: 3 }

describe('the claim of an output', () => {
  // A commitment must be 3 slots old, so the claim is made in epoch 6.
  const slot = firstSlotOfEpoch(parameters, 6) - parameters.minCommittableAge
  const rows = [
    [
      'of an active delegation',
      delegation,
      { kind: 'delegator', amount: 7n, startEpoch: 2, endEpoch: 5 },
    ],
    [
      'of an ended delegation',
      { ...delegation, delegationId: accountId, endEpoch: 4 },
      { kind: 'delegator', amount: 7n, startEpoch: 2, endEpoch: 4 },
    ],
    [
      'of a stake',
      { ...account, features: [issuer, staking] },
      { kind: 'validator', amount: 5n, startEpoch: 1, endEpoch: 3 },
    ],
    ['of an account without a stake', account, undefined],
    ['of a basic output', { ...held, type: 0, mana: '0' }, undefined],
  ] as const
  test.each(rows)('%s', (_name, output, claim) =>
    expect(rewardClaimOf(parameters, { output: parsed(Output, output), outputId }, slot)).toEqual(
      claim && { ...claim, accountId, claimingEpoch: 6 },
    ),
  )

  test('one slot earlier covers one epoch less', () => {
    const output = parsed(Output, delegation)
    expect(rewardClaimOf(parameters, { output, outputId }, slot - 1)).toMatchObject({
      endEpoch: 4,
      claimingEpoch: 5,
    })
  })
})

describe('a reward', () => {
  const member = { accountId, poolStake: 2n, validatorStake: 1n, fixedCost: 0n }
  const activity = Array.from({ length: 8 }, () => ({ blocks: 10, subslots: 10 }))
  const claim: RewardClaim = {
    kind: 'delegator',
    accountId,
    amount: 1n,
    startEpoch: 0,
    endEpoch: 0,
    claimingEpoch: 1,
  }
  const rewards = epochRewards(parameters, 0, [{ ...member, activity }])
  const history = { lastEpoch: 0, rewardsOf: () => rewards }

  test('of more than 64 bits is an error', () => {
    const huge = { ...claim, amount: 2n ** 63n }
    expect(claimReward(parameters, history, huge)).toEqual({
      ok: false,
      error: { code: 'REWARD_OVERFLOW' },
    })
  })

  test('without a committee is 0', () => {
    const none = { lastEpoch: 3, rewardsOf: () => undefined }
    expect(claimReward(parameters, none, claim)).toMatchObject({ value: { reward: 0n } })
    expect(epochRewards(parameters, 0, [])).toBeUndefined()
  })
})

test('a slot of ten seconds and ten blocks has a subslot for every second', () => {
  const slotStart = (parameters.genesisUnixTimestamp + 70n) * 1_000_000_000n
  const times = [0n, 999_999_999n, 1_000_000_000n, 9_999_999_999n]
  expect(times.map((time) => subslotOf(parameters, slotStart + time))).toEqual([0, 0, 1, 9])
})

import { expect, test } from 'vitest'
import { developmentParameters } from '../../../src/node/embedded/development-parameters.ts'
import { loadLedgerState, stateMemoryOf } from '../../../src/node/embedded/state.ts'
import { committedSlot } from '../../../src/node/recent-commitments.ts'
import type { DelegationOutput } from '../../../src/protocol/outputs.ts'
import { ProtocolParameters } from '../../../src/protocol/parameters.ts'
import type { AccountId, Id } from '../../../src/protocol/primitives.ts'
import { encode } from '../../../src/protocol/schema/schema.ts'
import { defaultDatabase, useStore } from '../../support/databases.ts'
import { unwrap } from '../../support/log-store.ts'
import { outputIdOf, slotCommit, testGenesis, testId } from '../../support/store-rows.ts'

/** Tests which epochs a writer knows after a restart. */

const usual = developmentParameters(0)
/** Epochs of two slots, so that fifteen of them begin while a block may refer to a commitment. */
const parameters: ProtocolParameters = {
  ...usual,
  slotsPerEpochExponent: 1,
  rewardsParameters: { ...usual.rewardsParameters, retentionPeriod: 2 },
}
const newest = 100
const accountId: AccountId = testId('AccountId', 32, 0)

const use = useStore(defaultDatabase().create)

test('a claim under the oldest commitment that a block may refer to earns the same after a restart', async () => {
  const { store, term } = use
  const genesis = testGenesis()
  const network = { ...genesis.network, parameters: encode(ProtocolParameters, parameters) }
  unwrap(await store.write.initialize(term, { ...genesis, network }))
  unwrap(await store.write.closeSlots(term, newest))
  const commits = Array.from({ length: newest }, (_, i) => {
    const slot = i + 1
    return slotCommit(slot, [], { epochs: slot % 2 === 1 ? [epochOf((slot - 1) / 2)] : [] })
  })
  unwrap(await store.write.commitSlots(term, commits))
  const state = await loadLedgerState(store.read, parameters, stateMemoryOf(0))
  const output: DelegationOutput = {
    ...{ type: 5, amount: 50n, delegatedAmount: 50n, startEpoch: 0, endEpoch: 0 },
    delegationId: `0x${'00'.repeat(32)}` as Id<'DelegationId'>,
    validatorAddress: { type: 8, accountId },
    unlockConditions: [{ type: 0, address: { type: 0, pubKeyHash: testId('Address', 32, 0) } }],
  }
  const input = { outputId: outputIdOf(0), output, creationSlot: 0 }
  const { maxCommittableAge } = parameters
  // Half of what epoch 34 earned, decayed by one epoch: it is the last one that is over, and the retention period begins with it.
  expect(state.rewardAt(input, newest - maxCommittableAge)).toEqual({ ok: true, value: 499n })

  // The writer forgets the epochs that no claim can count any more, so that it may run for years.
  const { commitment, commitmentId, bytes } = committedSlot(await store.read.latestMilestone())
  state.settle({ commitment: { ...commitment, slot: 2 * newest }, commitmentId, bytes }, [])
  expect([state.epochAt(34), state.epochAt(49)]).toEqual([undefined, undefined])
})

/** An epoch in which the pool of the account, in which half of the stake is delegated, earned 1,000. */
function epochOf(epoch: number) {
  const pool = { poolStake: 100n, poolReward: 1_000n, fixedCost: 0n }
  const totals = { totalStake: 100n, totalValidatorStake: 100n, profitMargin: 0n, targetReward: 1n }
  const rewards = { epoch, ...totals, poolById: new Map([[accountId, pool]]) }
  return { epoch, committee: [], candidates: [], rewards }
}

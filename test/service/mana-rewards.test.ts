import { describe, expect, test } from 'vitest'
import { developmentParameters } from '../../src/node/embedded/development-parameters.ts'
import { networkOf } from '../../src/protocol/network.ts'
import { Output } from '../../src/protocol/outputs.ts'
import type { Id } from '../../src/protocol/primitives.ts'
import { encode } from '../../src/protocol/schema/schema.ts'
import { readManaRewards } from '../../src/service/accounts/mana-rewards.ts'
import type { Services } from '../../src/service/services.ts'
import { databases, useStore } from '../support/databases.ts'
import { unwrap } from '../support/log-store.ts'
import { randomAccounts, randomAddresses } from '../support/random-outputs.ts'
import { createdOutput, outputIdOf, slotCommit, testGenesis } from '../support/store-rows.ts'

const parameters = { ...developmentParameters(0), slotsPerEpochExponent: 3 }
const [validator] = randomAccounts
const [owner] = randomAddresses

describe.each(databases)("the rewards of a delegation on '$name'", ({ create }) => {
  const use = useStore(create)

  test('end with the last epoch that is over, also in a future slot', async () => {
    if (validator === undefined || owner === undefined) throw new Error('an account and an address')
    const { store, term } = use
    const { accountId } = validator
    const delegation: Output = {
      ...{ type: 5, amount: 700n, delegatedAmount: 700n, startEpoch: 0, endEpoch: 0 },
      delegationId: `0x${'00'.repeat(32)}` as Id<'DelegationId'>,
      validatorAddress: validator,
      unlockConditions: [{ type: 0, address: owner }],
    }
    const output = createdOutput(1, { bookedSlot: 0, bytes: encode(Output, delegation) })
    unwrap(await store.write.initialize(term, testGenesis({ outputs: [output] })))
    const pool = { poolStake: 1_400n, poolReward: 5_000n, fixedCost: 0n }
    const rewards = {
      ...{ epoch: 0, totalStake: 1_400n, totalValidatorStake: 700n, targetReward: 5_000n },
      profitMargin: 0n,
      poolById: new Map([[accountId, pool]]),
    }
    const unpaid = { committee: [], candidates: [], rewards: undefined }
    const epochs = [
      { ...unpaid, epoch: 0, rewards },
      { ...unpaid, epoch: 1 },
    ]
    for (let slot = 1; slot <= 8; slot++) {
      unwrap(await store.write.closeSlots(term, slot))
      const changes = { epochs: slot === 7 ? epochs : [] }
      unwrap(await store.write.commitSlots(term, [slotCommit(slot, [], changes)]))
    }
    const source = { network: networkOf(parameters) } as Services['source']
    const claimedIn = async (slot: number | undefined) =>
      unwrap(await readManaRewards({ store, source }, outputIdOf(1), slot))
    const now = {
      startEpoch: 0,
      endEpoch: 0,
      rewards: 2_500n,
      latestCommittedEpochPoolRewards: 5_000n,
    }
    expect(await claimedIn(undefined)).toEqual(now)
    // Slot 15 is the last slot of epoch 1, which has not paid anything yet.
    const later = await claimedIn(15)
    expect(later).toEqual({ ...now, rewards: later.rewards })
    expect(later.rewards <= now.rewards && later.rewards > 0n).toBe(true)
    expect(await claimedIn(6)).toMatchObject({ rewards: 0n, latestCommittedEpochPoolRewards: 0n })
  })
})

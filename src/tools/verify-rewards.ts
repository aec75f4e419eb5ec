import { claimReward } from '../ledger/reward-claims.ts'
import { type EpochRewards, epochRewards, rewardsRoot } from '../ledger/rewards.ts'
import { bytesToHex } from '../lib/hex.ts'
import { err, ok } from '../lib/result.ts'
import { AccountId, EpochIndex, u32, u64 } from '../protocol/primitives.ts'
import { struct } from '../protocol/schema/declare.ts'
import { word } from '../protocol/schema/response-scalars.ts'
import type { Infer, Json, Schema } from '../protocol/schema/schema.ts'
import { omittedList } from './input-members.ts'
import { readInNetwork, type Verdict, type VerifyInput } from './verify-input.ts'

/** Computes the rewards of epochs, and claims on them (ledger reference 12.5). */

const Activity = struct('Activity', { slotOffset: u32, subslots: u32, blocks: u32 })
const Member = struct('Member', {
  accountId: AccountId,
  poolStake: u64,
  validatorStake: u64,
  fixedCost: u64,
  activity: listOf(Activity),
})
const Epoch = struct('Epoch', { epoch: EpochIndex, committee: listOf(Member) })
const Claim = struct('Claim', {
  kind: word('validator', 'delegator'),
  accountId: AccountId,
  amount: u64,
  startEpoch: EpochIndex,
  endEpoch: EpochIndex,
  claimingEpoch: EpochIndex,
})
const RewardsQuestion = struct('RewardsQuestion', { epochs: listOf(Epoch), claims: listOf(Claim) })

/** Computes the rewards of each epoch, then each claim. */
export function verifyRewards(input: VerifyInput): Verdict {
  const read = readInNetwork(RewardsQuestion, input)
  if (!read.ok) return read
  const { network, given } = read.value
  const { parameters } = network
  const rewardsByEpoch = new Map<EpochIndex, EpochRewards>()
  const epochs: Json[] = []
  for (const { epoch, committee } of given.epochs) {
    const members = committee.map((member) => ({
      ...member,
      activity: member.activity.map(({ subslots, blocks }) => ({
        blocks,
        subslots: bits(subslots),
      })),
    }))
    const rewards = epochRewards(parameters, epoch, members)
    if (rewards !== undefined) rewardsByEpoch.set(epoch, rewards)
    epochs.push(printEpoch(epoch, committee, rewards))
  }
  const history = {
    lastEpoch: given.epochs.reduce((last, { epoch }) => Math.max(last, epoch), -1),
    rewardsOf: (epoch: EpochIndex) => rewardsByEpoch.get(epoch),
  }
  const claims: Json[] = []
  for (const [index, claim] of given.claims.entries()) {
    const claimed = claimReward(parameters, history, claim)
    if (!claimed.ok) return err({ ...claimed.error, path: `claims.${index}` })
    const { reward, firstEpoch, lastEpoch } = claimed.value
    claims.push({ reward: reward.toString(), firstEpoch, lastEpoch })
  }
  return ok({ epochs, claims })
}

/** Prints the rewards of an epoch, including members without a reward. */
function printEpoch(
  epoch: EpochIndex,
  committee: Infer<typeof Epoch>['committee'],
  rewards: EpochRewards | undefined,
): Json {
  if (rewards === undefined) return { epoch }
  const pools = committee.map(({ accountId }) => {
    const pool = rewards.poolById.get(accountId)
    if (pool === undefined) return [accountId, null]
    const { poolStake, poolReward, fixedCost } = pool
    return [
      accountId,
      {
        poolStake: poolStake.toString(),
        poolRewards: poolReward.toString(),
        fixedCost: fixedCost.toString(),
      },
    ]
  })
  return {
    epoch,
    totalStake: rewards.totalStake.toString(),
    totalValidatorStake: rewards.totalValidatorStake.toString(),
    profitMargin: rewards.profitMargin.toString(),
    targetReward: rewards.targetReward.toString(),
    pools: Object.fromEntries(pools),
    rewardsRoot: bytesToHex(rewardsRoot(rewards)),
  }
}

/** Number of set bits of a mask. */
function bits(mask: number): number {
  return mask.toString(2).replaceAll('0', '').length
}

function listOf<T>(of: Schema<T>) {
  return omittedList(of, 0xffff)
}

import { err, ok, type Result } from '../lib/result.ts'
import { Staking } from '../protocol/features.ts'
import { is } from '../protocol/is.ts'
import { DelegationOutput, isZero } from '../protocol/outputs.ts'
import type { ProtocolParameters } from '../protocol/parameters.ts'
import type { AccountId, EpochIndex, SlotIndex } from '../protocol/primitives.ts'
import { epochOfSlot, lastSlotOfEpoch } from '../protocol/slots.ts'
import { accountOf } from './accounts.ts'
import { decay } from './mana.ts'
import { featureOf, type LedgerOutput } from './output-parts.ts'
import type { EpochRewards, PoolRewards } from './rewards.ts'

/** The rewards that a validator or a delegator may claim for the epochs of its stake (ledger reference 12.5). */

/** A stake or a delegation whose rewards are claimed. */
export interface RewardClaim {
  readonly kind: 'validator' | 'delegator'
  /** The validator. */
  readonly accountId: AccountId
  /** Base tokens staked or delegated. */
  readonly amount: bigint
  readonly startEpoch: EpochIndex
  /** The last epoch that counts; for a running delegation, the epoch before the claiming epoch. */
  readonly endEpoch: EpochIndex
  /** The epoch of the earliest slot that a block with the claiming transaction may have. */
  readonly claimingEpoch: EpochIndex
}

/** The rewards of past epochs. */
export interface RewardHistory {
  /** The last epoch that has ended; -1 before the first one ends. */
  readonly lastEpoch: number
  readonly rewardsOf: (epoch: EpochIndex) => EpochRewards | undefined
}

/** The rewards of the epochs that had ended at the end of a slot. */
export function rewardHistoryAt(
  parameters: ProtocolParameters,
  epochs: Iterable<{ readonly epoch: EpochIndex; readonly rewards: EpochRewards | undefined }>,
  slot: SlotIndex,
): RewardHistory {
  const ended = [...epochs].filter(({ epoch }) => lastSlotOfEpoch(parameters, epoch) <= slot)
  const rewardsByEpoch = new Map(ended.map(({ epoch, rewards }) => [epoch, rewards]))
  const lastEpoch = ended.reduce((last, { epoch }) => Math.max(last, epoch), -1)
  return { lastEpoch, rewardsOf: (epoch) => rewardsByEpoch.get(epoch) }
}

/** A claim in mana as of the claiming epoch, and its range of epochs. The first epoch is after the last one if the range is empty. */
export interface ClaimedReward {
  readonly reward: bigint
  readonly firstEpoch: EpochIndex
  readonly lastEpoch: EpochIndex
}

/** The reward exceeds 64 bits. */
export interface RewardOverflow {
  readonly code: 'REWARD_OVERFLOW'
}

/** Sums a claim over its epochs. Linear in their number, which the retention period bounds. */
export function claimReward(
  parameters: ProtocolParameters,
  history: RewardHistory,
  claim: RewardClaim,
): Result<ClaimedReward, RewardOverflow> {
  const earliest = claim.claimingEpoch - parameters.rewardsParameters.retentionPeriod
  const firstEpoch = Math.max(beginOf(claim), earliest)
  const lastEpoch = Math.min(claim.endEpoch, history.lastEpoch)
  const decayedTo = Math.max(claim.claimingEpoch - 1, lastEpoch)
  let reward = 0n
  let found: EpochIndex | undefined
  for (let epoch = firstEpoch; epoch <= lastEpoch; epoch++) {
    const rewards = history.rewardsOf(epoch)
    const pool = rewards?.poolById.get(claim.accountId)
    if (rewards === undefined || pool === undefined || pool.poolStake === 0n) continue
    found ??= epoch
    const share = shareOf[claim.kind](parameters, rewards, pool, claim.amount)
    reward += decay(parameters, share, decayedTo - epoch)
  }
  if (reward >> 64n !== 0n) return err({ code: 'REWARD_OVERFLOW' })
  return ok({ reward, firstEpoch: found ?? emptyFirst(claim, firstEpoch, lastEpoch), lastEpoch })
}

/**
 * The claim of a reward input for an output under a commitment to `slot`; `undefined` for outputs without rewards. A running delegation
 * counts up to the epoch before the claiming epoch.
 */
export function rewardClaimOf(
  parameters: ProtocolParameters,
  { output, outputId }: LedgerOutput,
  slot: SlotIndex,
): RewardClaim | undefined {
  const claimingEpoch = epochOfSlot(parameters, slot + parameters.minCommittableAge)
  if (is(DelegationOutput, output)) {
    const { validatorAddress, delegatedAmount: amount, startEpoch } = output
    const endEpoch = isZero(output.delegationId) ? claimingEpoch - 1 : output.endEpoch
    const { accountId } = validatorAddress
    return { kind: 'delegator', accountId, amount, startEpoch, endEpoch, claimingEpoch }
  }
  const accountId = accountOf(output, outputId)
  const staking = featureOf(output, Staking)
  if (accountId === undefined || staking === undefined) return undefined
  const { stakedAmount: amount, startEpoch, endEpoch } = staking
  return { kind: 'validator', accountId, amount, startEpoch, endEpoch, claimingEpoch }
}

/** The first epoch that counts. A validator cannot join the committee of the epoch in which its stake begins, except in epoch 0. */
function beginOf({ kind, startEpoch }: RewardClaim): EpochIndex {
  return kind === 'validator' && startEpoch > 0 ? startEpoch + 1 : startEpoch
}

/** The first epoch of a claim without rewards. A delegator skips all epochs, a validator all but the last one. */
function emptyFirst({ kind }: RewardClaim, first: EpochIndex, last: EpochIndex): EpochIndex {
  return Math.max(first, kind === 'validator' ? last : last + 1)
}

const shareOf = { validator: validatorShare, delegator: delegatorShare }

/** The fixed cost, the profit margin on the rest, and the share of the validator's stake in the remainder. */
function validatorShare(
  parameters: ProtocolParameters,
  { profitMargin }: EpochRewards,
  { poolReward, fixedCost, poolStake }: PoolRewards,
  stake: bigint,
): bigint {
  if (poolReward < fixedCost) return 0n
  const exponent = BigInt(parameters.rewardsParameters.profitMarginExponent)
  const rest = poolReward - fixedCost
  const margin = (profitMargin * rest) >> exponent
  const shared = (((1n << exponent) - profitMargin) * rest) >> exponent
  return fixedCost + margin + (shared * stake) / poolStake
}

/** The share of the delegated amount in the remainder after the validator. A pool below the validator's fixed cost is shared in full. */
function delegatorShare(
  parameters: ProtocolParameters,
  { profitMargin }: EpochRewards,
  { poolReward, fixedCost, poolStake }: PoolRewards,
  delegated: bigint,
): bigint {
  const exponent = BigInt(parameters.rewardsParameters.profitMarginExponent)
  const rest = poolReward >= fixedCost ? poolReward - fixedCost : poolReward
  return (((((1n << exponent) - profitMargin) * rest) >> exponent) * delegated) / poolStake
}

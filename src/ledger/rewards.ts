import { sum } from '../lib/sum.ts'
import type { ProtocolParameters } from '../protocol/parameters.ts'
import type { AccountId, EpochIndex } from '../protocol/primitives.ts'
import { Writer } from '../protocol/schema/writer.ts'
import { nsPerSecond, slotOfTime, slotStart } from '../protocol/slots.ts'
import { decay } from './mana.ts'
import { trieMapRoot } from './trie.ts'

/** The rewards that an epoch pays to its committee, from which validators and delegators claim (ledger reference 12.5). */

/** A validator of an epoch's committee, and its activity in the epoch. */
export interface CommitteeMember {
  readonly accountId: AccountId
  /** Base tokens of the validator's stake and of all delegations to it. */
  readonly poolStake: bigint
  readonly validatorStake: bigint
  /** Mana that the validator takes before the reward is shared. */
  readonly fixedCost: bigint
  /** The slots in which the validator issued validation blocks, in any order. */
  readonly activity: readonly SlotActivity[]
}

/** The validation blocks of one validator in one slot. */
export interface SlotActivity {
  readonly blocks: number
  /** Number of subslots with a block. A slot has as many subslots as a validator may issue blocks in it. */
  readonly subslots: number
}

export interface EpochRewards {
  readonly epoch: EpochIndex
  readonly totalStake: bigint
  readonly totalValidatorStake: bigint
  /** The fraction of the shared reward that goes to the validators, times 2^`profitMarginExponent`. */
  readonly profitMargin: bigint
  /** Target mana for the whole committee. */
  readonly targetReward: bigint
  /** The pools of the members with activity. */
  readonly poolById: ReadonlyMap<AccountId, PoolRewards>
}

/** The reward of one validator and its delegators in an epoch. */
export interface PoolRewards {
  readonly poolStake: bigint
  readonly poolReward: bigint
  readonly fixedCost: bigint
}

/** The rewards of the committee of an ended epoch; `undefined` without stake. */
export function epochRewards(
  parameters: ProtocolParameters,
  epoch: EpochIndex,
  committee: readonly CommitteeMember[],
): EpochRewards | undefined {
  const totalStake = sum(committee.map(({ poolStake }) => poolStake))
  const totalValidatorStake = sum(committee.map(({ validatorStake }) => validatorStake))
  if (totalStake === 0n || totalValidatorStake === 0n) return undefined
  const exponent = BigInt(parameters.rewardsParameters.profitMarginExponent)
  const whole = {
    epoch,
    totalStake,
    totalValidatorStake,
    profitMargin: (totalValidatorStake << exponent) / (totalValidatorStake + totalStake),
    targetReward: targetReward(parameters, epoch),
  }
  const poolById = new Map<AccountId, PoolRewards>()
  for (const member of committee) {
    const performance = performanceOf(parameters, member)
    if (performance === 0) continue
    const { poolStake, fixedCost } = member
    const poolReward = poolRewardOf(parameters, member, performance, whole)
    poolById.set(member.accountId, { poolStake, poolReward, fixedCost })
  }
  return { ...whole, poolById }
}

/**
 * The subslot in which a validation block was issued, from 0. A slot has as many equal subslots as a validator may issue blocks in it.
 * `issuingTime` is in Unix nanoseconds.
 */
export function subslotOf(parameters: ProtocolParameters, issuingTime: bigint): number {
  const slot = slotOfTime(parameters, issuingTime)
  const start = BigInt(slotStart(parameters, slot)) * nsPerSecond
  const length = BigInt(parameters.slotDurationInSeconds) * nsPerSecond
  const part = length / BigInt(parameters.validationBlocksPerSlot)
  return Number((issuingTime - start) / part)
}

/** The root over the rewards of an epoch. */
export function rewardsRoot({ poolById }: EpochRewards): Uint8Array {
  const valueByKey = new Map<AccountId, Uint8Array>()
  for (const [accountId, { poolStake, poolReward, fixedCost }] of poolById) {
    const writer = new Writer(24)
    for (const value of [poolStake, poolReward, fixedCost]) writer.u64(value)
    valueByKey.set(accountId, writer.bytes())
  }
  return trieMapRoot(valueByKey)
}

/** The target reward of an epoch: high at the beginning, decaying to the final rate after the bootstrapping period. */
function targetReward(parameters: ProtocolParameters, epoch: EpochIndex): bigint {
  const { bootstrappingDuration, ...rates } = parameters.rewardsParameters
  if (epoch > bootstrappingDuration) return rates.finalTargetRewardsRate
  return decay(parameters, rates.initialTargetRewardsRate, epoch)
}

/** Average number of subslots with a block per slot of the epoch, rounded down; 0 for a validator that issued too many blocks. */
function performanceOf(parameters: ProtocolParameters, { activity }: CommitteeMember): number {
  const isTooMuch = activity.some(({ blocks }) => blocks > parameters.validationBlocksPerSlot)
  if (isTooMuch) return 0
  const total = activity.reduce((sum, { subslots }) => sum + subslots, 0)
  return Math.floor(total / 2 ** parameters.slotsPerEpochExponent)
}

/** The reward of a pool: half by its share in the stake of all pools, half by the validator's share in the stake of all validators. */
function poolRewardOf(
  parameters: ProtocolParameters,
  { poolStake, validatorStake }: CommitteeMember,
  performance: number,
  whole: Omit<EpochRewards, 'poolById'>,
): bigint {
  const exponent = BigInt(parameters.rewardsParameters.poolCoefficientExponent)
  const coefficient =
    (poolStake << exponent) / whole.totalStake +
    (validatorStake << exponent) / whole.totalValidatorStake
  const full = ((coefficient * whole.targetReward) >> exponent) * BigInt(performance)
  return (full / BigInt(parameters.validationBlocksPerSlot)) >> 1n
}

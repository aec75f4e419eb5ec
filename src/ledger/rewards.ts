import type { ProtocolParameters } from '../protocol/parameters.ts'
import type { AccountId, EpochIndex } from '../protocol/primitives.ts'
import { Writer } from '../protocol/schema/writer.ts'
import { slotOfTime, slotStart } from '../protocol/slots.ts'
import { decay } from './mana.ts'
import { trieMapRoot } from './trie.ts'

/** What an epoch pays to its committee, and what of it validators and delegators may claim (ledger reference 12.5). */

/** A validator of an epoch's committee and what it did in the epoch. */
export interface CommitteeMember {
  readonly accountId: AccountId
  /** Base tokens of its own stake and of all delegations to it. */
  readonly poolStake: bigint
  readonly validatorStake: bigint
  /** Mana that it takes before sharing. */
  readonly fixedCost: bigint
  /** The slots in which it issued validation blocks, in any order. */
  readonly activity: readonly SlotActivity[]
}

/** The validation blocks of one validator in one slot. */
export interface SlotActivity {
  readonly blocks: number
  /** How many of the slot's equal parts, as many as it may issue blocks, have a block. */
  readonly subslots: number
}

/** What an epoch pays. */
export interface EpochRewards {
  readonly epoch: EpochIndex
  readonly totalStake: bigint
  readonly totalValidatorStake: bigint
  /** The validators' part of what is shared, times 2 to `profitMarginExponent`. */
  readonly profitMargin: bigint
  /** Mana meant for the whole committee. */
  readonly targetReward: bigint
  /** Of those members only that did anything. */
  readonly poolById: ReadonlyMap<AccountId, PoolRewards>
}

/** What an epoch pays to one validator and its delegators. */
export interface PoolRewards {
  readonly poolStake: bigint
  readonly poolReward: bigint
  readonly fixedCost: bigint
}

/** Rewards of the committee of an epoch that is over; `undefined` without stake. */
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
 * The part of its slot in which a validation block was issued, from 0: a slot has as many equal parts as a
 * validator may issue blocks in it. The time is in Unix nanoseconds.
 */
export function subslotOf(parameters: ProtocolParameters, issuingTime: bigint): number {
  const slot = slotOfTime(parameters, issuingTime)
  const start = BigInt(slotStart(parameters, slot)) * 1_000_000_000n
  const length = BigInt(parameters.slotDurationInSeconds) * 1_000_000_000n
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

/** More in the beginning, falling towards what the network pays for good. */
function targetReward(parameters: ProtocolParameters, epoch: EpochIndex): bigint {
  const { bootstrappingDuration, ...rates } = parameters.rewardsParameters
  if (epoch > bootstrappingDuration) return rates.finalTargetRewardsRate
  return decay(parameters, rates.initialTargetRewardsRate, epoch)
}

/** Subslots with a block in an average slot of the epoch; none for a validator that issued too much. */
function performanceOf(parameters: ProtocolParameters, { activity }: CommitteeMember): number {
  const isTooMuch = activity.some(({ blocks }) => blocks > parameters.validationBlocksPerSlot)
  if (isTooMuch) return 0
  const subslots = activity.reduce((total, one) => total + one.subslots, 0)
  return Math.floor(subslots / 2 ** parameters.slotsPerEpochExponent)
}

/** Half by the share of the pool in all pools, half by the share of its validator in all validators. */
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

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n)
}

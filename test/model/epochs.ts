import type { AccountEntry } from '../../src/ledger/accounts.ts'
import { chainId } from '../../src/ledger/chains.ts'
import { decay } from '../../src/ledger/mana.ts'
import { featureOf } from '../../src/ledger/output-parts.ts'
import { Staking } from '../../src/protocol/features.ts'
import type { Output } from '../../src/protocol/outputs.ts'
import type { ProtocolParameters } from '../../src/protocol/parameters.ts'
import type { AccountId, EpochIndex, OutputId, SlotIndex } from '../../src/protocol/primitives.ts'
import {
  epochOfSlot,
  firstSlotOfEpoch,
  lastSlotOfEpoch,
  slotStart,
} from '../../src/protocol/slots.ts'
import { type Accounts, isZeroId } from './accounts.ts'
import type { StoredBlock } from './stored-ledger.ts'

/** Committees and rewards (ledger reference 9 and 10). */

/** A member of a committee, with its stakes when the committee was selected. */
export interface Seat {
  readonly accountId: AccountId
  readonly poolStake: bigint
  readonly validatorStake: bigint
  readonly fixedCost: bigint
}

/** The rewards of an epoch. */
export interface Rewards {
  readonly profitMargin: bigint
  readonly poolById: ReadonlyMap<AccountId, Pool>
}

interface Pool {
  readonly poolStake: bigint
  readonly poolReward: bigint
  readonly fixedCost: bigint
}

/** The candidates with the largest pools, or the former committee if there is no candidate. */
export function selectCommittee(
  parameters: ProtocolParameters,
  candidates: Iterable<AccountId>,
  accounts: Accounts,
): Seat[] {
  const pool = ({ validatorStake, delegationStake: delegated }: AccountEntry) =>
    validatorStake + (delegated > 0n ? delegated : 0n)
  return [...candidates]
    .flatMap((id) => accounts.get(id) ?? [])
    .sort(
      (a, b) =>
        Number(pool(b) - pool(a)) ||
        Number(b.validatorStake - a.validatorStake) ||
        b.stakeEndEpoch - a.stakeEndEpoch ||
        Number(a.fixedCost - b.fixedCost) ||
        (a.accountId < b.accountId ? 1 : -1),
    )
    .slice(0, parameters.targetCommitteeSize)
    .map((entry) => {
      const { accountId, validatorStake, fixedCost } = entry
      return { accountId, poolStake: pool(entry), validatorStake, fixedCost }
    })
}

/** The slot of an epoch whose commitment selects the committee of the next epoch. */
export function selectingSlot(parameters: ProtocolParameters, epoch: EpochIndex): SlotIndex {
  const { epochNearingThreshold, genesisSlot } = parameters
  const nearing = lastSlotOfEpoch(parameters, epoch) - epochNearingThreshold
  return Math.max(nearing, firstSlotOfEpoch(parameters, epoch), genesisSlot + 1)
}

/** The rewards of an epoch that is over; `undefined` if nobody had a stake. */
export function rewardsOf(
  parameters: ProtocolParameters,
  epoch: EpochIndex,
  seats: readonly Seat[],
  blocksOfSlot: (slot: SlotIndex) => readonly StoredBlock[],
): Rewards | undefined {
  const sum = (values: readonly bigint[]) => values.reduce((all, one) => all + one, 0n)
  const validators = sum(seats.map((seat) => seat.validatorStake))
  const pools = sum(seats.map((seat) => seat.poolStake))
  if (validators === 0n || pools === 0n) return undefined
  const { rewardsParameters: rules, validationBlocksPerSlot: most } = parameters
  const exponent = BigInt(rules.poolCoefficientExponent)
  const target =
    epoch <= rules.bootstrappingDuration
      ? decay(parameters, rules.initialTargetRewardsRate, epoch)
      : rules.finalTargetRewardsRate
  const poolById = new Map<AccountId, Pool>()
  for (const { accountId, poolStake, validatorStake, fixedCost } of seats) {
    const performance = performanceOf(parameters, epoch, (slot) =>
      blocksOfSlot(slot).filter((one) => one.isValidation && one.issuerId === accountId),
    )
    if (performance === 0) continue
    const coefficient = (poolStake << exponent) / pools + (validatorStake << exponent) / validators
    const full = ((coefficient * target) >> exponent) * BigInt(performance)
    poolById.set(accountId, { poolStake, poolReward: (full / BigInt(most)) >> 1n, fixedCost })
  }
  const profitMargin = (validators << BigInt(rules.profitMarginExponent)) / (validators + pools)
  return { profitMargin, poolById }
}

/** The number of subslots per slot in which the validator voted; 0 if it ever voted too often. */
function performanceOf(
  parameters: ProtocolParameters,
  epoch: EpochIndex,
  votesOf: (slot: SlotIndex) => readonly StoredBlock[],
): number {
  const { validationBlocksPerSlot: most, slotDurationInSeconds } = parameters
  const subslot = (BigInt(slotDurationInSeconds) * 1_000_000_000n) / BigInt(most)
  let total = 0
  const last = lastSlotOfEpoch(parameters, epoch)
  for (let slot = firstSlotOfEpoch(parameters, epoch); slot <= last; slot++) {
    const votes = votesOf(slot)
    if (votes.length > most) return 0
    const start = BigInt(slotStart(parameters, slot)) * 1_000_000_000n
    total += new Set(votes.map(({ block }) => (block.header.issuingTime - start) / subslot)).size
  }
  return Math.floor(total / 2 ** parameters.slotsPerEpochExponent)
}

/** A delegation or a staking account that claims rewards. */
export interface Claim {
  readonly output: Output
  readonly outputId: OutputId
}

/** The mana that a claim yields under a commitment to a slot. */
export function claimedMana(
  parameters: ProtocolParameters,
  { output, outputId }: Claim,
  slot: SlotIndex,
  rewards: ReadonlyMap<EpochIndex, Rewards | undefined>,
): bigint {
  const { retentionPeriod, profitMarginExponent } = parameters.rewardsParameters
  const claiming = epochOfSlot(parameters, slot + parameters.minCommittableAge)
  const terms = termsOf(output, outputId, claiming)
  if (terms === undefined) return 0n
  let lastEnded = -1
  while (lastSlotOfEpoch(parameters, lastEnded + 1) <= slot) lastEnded++
  const last = Math.min(terms.last, lastEnded)
  const whole = 1n << BigInt(profitMarginExponent)
  const part = (value: bigint) => value >> BigInt(profitMarginExponent)
  let mana = 0n
  for (let epoch = Math.max(terms.first, claiming - retentionPeriod, 0); epoch <= last; epoch++) {
    const ofEpoch = rewards.get(epoch)
    const pool = ofEpoch?.poolById.get(terms.accountId)
    if (ofEpoch === undefined || pool === undefined || pool.poolStake === 0n) continue
    const { poolReward, fixedCost, poolStake } = pool
    const isPaid = poolReward >= fixedCost
    const left = isPaid ? poolReward - fixedCost : terms.isDelegation ? poolReward : 0n
    const shared = (part((whole - ofEpoch.profitMargin) * left) * terms.amount) / poolStake
    const own = isPaid ? fixedCost + part(ofEpoch.profitMargin * left) : 0n
    const share = terms.isDelegation ? shared : isPaid ? own + shared : 0n
    mana += decay(parameters, share, Math.max(claiming - 1, last) - epoch)
  }
  return mana
}

function termsOf(output: Output, outputId: OutputId, claiming: EpochIndex) {
  if (output.type === 5) {
    return {
      isDelegation: true,
      accountId: output.validatorAddress.accountId,
      amount: output.delegatedAmount,
      first: output.startEpoch,
      last: isZeroId(output.delegationId) ? claiming - 1 : output.endEpoch,
    }
  }
  const staking = featureOf(output, Staking)
  if (staking === undefined) return undefined
  return {
    isDelegation: false,
    accountId: chainId(output, outputId) as AccountId,
    amount: staking.stakedAmount,
    first: staking.startEpoch === 0 ? 0 : staking.startEpoch + 1,
    last: staking.endEpoch,
  }
}

import type { ProtocolParameters } from '../protocol/parameters.ts'
import type { AccountId, SlotIndex } from '../protocol/primitives.ts'
import { epochOfSlot, firstSlotOfEpoch, lastSlotOfEpoch } from '../protocol/slots.ts'
import type { AccountEntry } from './accounts.ts'

/** Who may stand for the committee of the next epoch, and who is chosen (ledger reference 12.5; sybilprotection.go). */

/** A candidacy announcement in an accepted block. */
export interface Announcement {
  readonly issuerId: AccountId
  /** The slot of the block. */
  readonly slot: SlotIndex
  /** The slot that the block commits to. */
  readonly committedSlot: SlotIndex
}

/**
 * Whether an announcement makes its issuer a candidate: it comes in time, and the issuer's stake, as of the slot that the block
 * commits to, outlasts the epoch. A stake that ends with the epoch could not serve in the next one.
 */
export function isCandidacy(
  parameters: ProtocolParameters,
  { slot }: Pick<Announcement, 'slot'>,
  issuer: Pick<AccountEntry, 'stakeEndEpoch'> | undefined,
): boolean {
  const epoch = epochOfSlot(parameters, slot)
  return (
    issuer !== undefined &&
    issuer.stakeEndEpoch > epoch &&
    slot <= lastSlotOfEpoch(parameters, epoch) - parameters.epochNearingThreshold
  )
}

/**
 * The slot of an epoch as of whose end the committee of the next one is chosen; the last in which a candidacy can be announced.
 * Where the threshold reaches beyond the epoch no account can announce, and the choice is the first thing of the epoch.
 *
 * A node chooses when that slot is final, and keeps the former committee if a slot less than `maxCommittableAge` from the
 * end is committed by then. Here a slot is final as soon as it is committed, so it is never too late.
 */
export function choosingSlot(parameters: ProtocolParameters, slot: SlotIndex): SlotIndex {
  const epoch = epochOfSlot(parameters, slot)
  const nearing = lastSlotOfEpoch(parameters, epoch) - parameters.epochNearingThreshold
  return Math.max(nearing, firstSlotOfEpoch(parameters, epoch), parameters.genesisSlot + 1)
}

/**
 * The candidates with the largest pools, as many as a committee takes. Of equal pools that with the larger stake of its own, the
 * longer stake, the lower fixed cost, the greater id.
 */
export function chooseCommittee(
  { targetCommitteeSize }: Pick<ProtocolParameters, 'targetCommitteeSize'>,
  candidates: readonly AccountEntry[],
): AccountEntry[] {
  return candidates.toSorted(byRank).slice(0, targetCommitteeSize)
}

/** Base tokens of the account's own stake and of all delegations to it. */
export function poolStakeOf(
  entry: Pick<AccountEntry, 'validatorStake' | 'delegationStake'>,
): bigint {
  return entry.validatorStake + entry.delegationStake
}

function byRank(a: AccountEntry, b: AccountEntry): number {
  return (
    compare(poolStakeOf(b), poolStakeOf(a)) ||
    compare(b.validatorStake, a.validatorStake) ||
    compare(b.stakeEndEpoch, a.stakeEndEpoch) ||
    compare(a.fixedCost, b.fixedCost) ||
    compare(b.accountId, a.accountId)
  )
}

function compare<T extends bigint | number | string>(a: T, b: T): number {
  return a === b ? 0 : a < b ? -1 : 1
}

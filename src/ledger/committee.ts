import type { ProtocolParameters } from '../protocol/parameters.ts'
import type { AccountId, SlotIndex } from '../protocol/primitives.ts'
import { epochOfSlot, firstSlotOfEpoch, lastSlotOfEpoch } from '../protocol/slots.ts'
import { type AccountEntry, delegationStakeOf } from './accounts.ts'

/** The candidacy for the committee of the next epoch, and the choice of the committee (ledger reference 12.5; sybilprotection.go). */

/** A candidacy announcement in an accepted block. */
export interface Announcement {
  readonly issuerId: AccountId
  /** The slot of the block. */
  readonly slot: SlotIndex
  /** The slot that the block commits to. */
  readonly committedSlot: SlotIndex
}

/**
 * Whether an announcement makes its issuer a candidate: it is in time, and the issuer's stake, as of the slot that the block commits to,
 * ends after the epoch. A stake that ends with the epoch could not serve in the next epoch.
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
 * The slot of an epoch at whose end the committee of the next epoch is chosen. It is the last slot for candidacy announcements. If the
 * threshold is longer than the epoch, no account can announce, and the committee is chosen at the beginning of the epoch.
 *
 * A node chooses when that slot is final, and keeps the former committee if a slot less than `maxCommittableAge` before the end of the
 * epoch is already committed. Here a slot is final as soon as it is committed, so the choice is always in time.
 */
export function choosingSlot(parameters: ProtocolParameters, slot: SlotIndex): SlotIndex {
  const epoch = epochOfSlot(parameters, slot)
  const nearing = lastSlotOfEpoch(parameters, epoch) - parameters.epochNearingThreshold
  return Math.max(nearing, firstSlotOfEpoch(parameters, epoch), parameters.genesisSlot + 1)
}

/**
 * The candidates with the largest pools, up to the target committee size. Ties are decided by the larger own stake, the later end of
 * the stake, the lower fixed cost, and the greater account id.
 */
export function chooseCommittee(
  { targetCommitteeSize }: Pick<ProtocolParameters, 'targetCommitteeSize'>,
  candidates: readonly AccountEntry[],
): AccountEntry[] {
  return candidates.toSorted(byRank).slice(0, targetCommitteeSize)
}

/** Base tokens of the account's own stake and of all running delegations to it. */
export function poolStakeOf(
  entry: Pick<AccountEntry, 'validatorStake' | 'delegationStake'>,
): bigint {
  return entry.validatorStake + delegationStakeOf(entry)
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

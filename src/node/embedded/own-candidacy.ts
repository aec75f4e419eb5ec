import { isCandidacy } from '../../ledger/committee.ts'
import type { ProtocolParameters } from '../../protocol/parameters.ts'
import type { AccountId, SlotIndex } from '../../protocol/primitives.ts'
import { epochOfSlot, firstSlotOfEpoch } from '../../protocol/slots.ts'
import type { LedgerState } from './state.ts'

/** Decides when the writer's own account announces its candidacy: once per epoch, as validators of a network do. */

export interface OwnCandidacyDeps {
  readonly parameters: ProtocolParameters
  readonly state: Pick<LedgerState, 'entryAt' | 'epochAt'>
  readonly accountId: AccountId
}

/**
 * Whether a block of this slot should announce the candidacy. `announcedSlot` is the slot of the last announcement, committed
 * or not.
 */
export async function isCandidacyDue(
  { parameters, state, accountId }: OwnCandidacyDeps,
  slot: SlotIndex,
  announcedSlot: SlotIndex,
): Promise<boolean> {
  const epoch = epochOfSlot(parameters, slot)
  const isRegistered = state.epochAt(epoch)?.candidates.includes(accountId) === true
  if (isRegistered) return false
  if (!isCandidacy(parameters, { slot }, await state.entryAt(accountId, slot))) return false
  const isUnderWay =
    announcedSlot >= Math.max(firstSlotOfEpoch(parameters, epoch), 1) &&
    slot <= announcedSlot + parameters.maxCommittableAge
  return !isUnderWay
}

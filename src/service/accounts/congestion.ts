import { err, ok, type Result } from '../../lib/result.ts'
import type { AccountId, SlotIndex } from '../../protocol/primitives.ts'
import type { Services } from '../services.ts'
import { type CommitmentName, decodeCommitment, findCommitment } from '../slots/read-commitment.ts'

/** What an account pays for a block, and with what (rest.md 4.1). */

/** As of the end of a slot. */
export interface CongestionView {
  readonly slot: SlotIndex
  /** Whether the account is not in debt, and so may issue. */
  readonly ready: boolean
  /** Mana a unit of work score. */
  readonly referenceManaCost: bigint
  /** Mana, as it stood when it last changed, like the node's. */
  readonly blockIssuanceCredits: bigint
}

/** Neither the account nor the commitment need be known. */
export type CongestionError = {
  readonly code: 'NOT_FOUND'
  readonly what: string
  readonly id: string
}

/** Reads it as of a commitment. */
export async function readCongestion(
  deps: Pick<Services, 'store'>,
  accountId: AccountId,
  name: CommitmentName,
): Promise<Result<CongestionView, CongestionError>> {
  const milestone = await findCommitment(deps, name)
  if (milestone === undefined) {
    return err({ code: 'NOT_FOUND', what: 'commitment', id: String(name) })
  }
  const { slot } = milestone
  const entry = await deps.store.read.accountEntry(accountId, slot)
  if (entry === undefined) return err({ code: 'NOT_FOUND', what: 'account', id: accountId })
  const { referenceManaCost } = decodeCommitment(milestone)
  const { credits: blockIssuanceCredits } = entry
  return ok({ slot, ready: blockIssuanceCredits >= 0n, referenceManaCost, blockIssuanceCredits })
}

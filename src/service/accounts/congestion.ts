import { err, ok, type Result } from '../../lib/result.ts'
import type { AccountId, SlotIndex } from '../../protocol/primitives.ts'
import type { Services } from '../services.ts'
import { type CommitmentName, decodeCommitment, findCommitment } from '../slots/read-commitment.ts'

/** The price of a block for an account, and the account's block issuance credits (rest.md 4.1). */

/** Price and credits as of the end of a slot. */
export interface CongestionView {
  readonly slot: SlotIndex
  /** Whether the account may issue blocks, because its credits are not negative. */
  readonly ready: boolean
  /** Mana per unit of work score. */
  readonly referenceManaCost: bigint
  /** Mana as of the last change, without later decay, as a node returns it. */
  readonly blockIssuanceCredits: bigint
}

/** The account or the commitment is not known. */
export type CongestionError = {
  readonly code: 'NOT_FOUND'
  readonly what: string
  readonly id: string
}

/** Reads price and credits as of a commitment. */
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

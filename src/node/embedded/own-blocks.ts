import { type AdmissionError, issuerError } from '../../ledger/admission.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { Block } from '../../protocol/block.ts'
import { identifyBlock } from '../../protocol/ids.ts'
import type { Network } from '../../protocol/network.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import { encode } from '../../protocol/schema/schema.ts'
import { epochOfSlot, slotEndNs, slotOfTime } from '../../protocol/slots.ts'
import { CandidacyAnnouncement } from '../../protocol/transaction.ts'
import { type BuildDeps, buildBlock, buildVote, type IssuerAccount } from '../issuer.ts'
import type { CheckedBlock, Issuance } from '../source.ts'
import { isCandidacyDue } from './own-candidacy.ts'
import type { LedgerState } from './state.ts'

/** The blocks that the writer's own account issues in a slot. */

export interface OwnBlocksDeps extends BuildDeps {
  readonly issuer: IssuerAccount
  readonly issuance: () => Promise<Issuance>
  /** The state of the ledger while this process is the writer. */
  readonly ledger: () => LedgerState | undefined
}

/**
 * Builds the blocks of a slot. The first block is a validation block if the account is a validator; it counts for the rewards.
 * A second block announces the candidacy when that is due. `announcedSlot` is the slot of the last announcement. The error is the reason
 * why the account may not issue them: as for every issuer, its entry at the slot of the commitment decides.
 */
export async function buildOwnBlocks(
  { clock, network, issuer, issuance, ledger }: OwnBlocksDeps,
  slot: SlotIndex,
  announcedSlot: SlotIndex,
): Promise<Result<readonly Block[], AdmissionError>> {
  const { parameters } = network
  const { accountId } = issuer
  const state = ledger()
  // The term has ended.
  if (state === undefined) return ok([])
  const committee = state.committeeOf(epochOfSlot(parameters, slot))
  const isValidator = committee.some((seat) => seat.accountId === accountId)
  const isDue = await isCandidacyDue({ parameters, state, accountId }, slot, announcedSlot)
  const request = { issuance: await issuance(), payload: undefined }
  // The slot may have ended meanwhile, and the next slot gets its own block.
  const lastNs = slotEndNs(parameters, slot) - 1n
  const nowNs = clock.nowNs()
  const building = { clock: { nowNs: () => (nowNs < lastNs ? nowNs : lastNs) }, network }
  const block = (isValidator ? buildVote : buildBlock)(building, issuer, request)
  const { slot: committed, referenceManaCost } = request.issuance.latestCommitment
  const entry = await state.entryAt(accountId, committed)
  const refused = issuerError(block, { parameters, issuer: entry, referenceManaCost })
  if (refused !== undefined) return err(refused)
  if (!isDue) return ok([block])
  const announcement = { ...request, payload: { type: CandidacyAnnouncement.code } }
  return ok([block, buildBlock(building, issuer, announcement)])
}

/** Wraps a block that needs no check, because this process built it. */
export function checkedOwnBlock(network: Network, block: Block): CheckedBlock {
  const bytes = encode(Block, block)
  const slot = slotOfTime(network.parameters, block.header.issuingTime)
  const { blockId } = identifyBlock(bytes, slot)
  return { block, bytes, blockId, slot, transaction: undefined }
}

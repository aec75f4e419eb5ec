import { Block } from '../../protocol/block.ts'
import { identifyBlock } from '../../protocol/ids.ts'
import type { Network } from '../../protocol/network.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import { encode } from '../../protocol/schema/schema.ts'
import { epochOfSlot, slotEnd, slotOfTime } from '../../protocol/slots.ts'
import { CandidacyAnnouncement } from '../../protocol/transaction.ts'
import { type BuildDeps, buildBlock, buildVote, type IssuerAccount } from '../issuer.ts'
import type { CheckedBlock, Issuance } from '../source.ts'
import { isCandidacyDue } from './own-candidacy.ts'
import type { LedgerState } from './state.ts'

/** The blocks that the writer's own account issues in a slot. */

/** What building them needs. */
export interface OwnBlocksDeps extends BuildDeps {
  readonly issuer: IssuerAccount
  readonly issuance: () => Promise<Issuance>
  /** The state of the ledger while this process is the writer. */
  readonly ledger: () => LedgerState | undefined
}

/**
 * Builds the blocks of a slot: a validator's counts for its rewards, and another one announces its candidacy, unless the
 * account announced it in this epoch; `announcedSlot` is the slot of its last announcement.
 */
export async function buildOwnBlocks(
  { clock, network, issuer, issuance, ledger }: OwnBlocksDeps,
  slot: SlotIndex,
  announcedSlot: SlotIndex,
): Promise<readonly Block[]> {
  const { parameters } = network
  const { accountId } = issuer
  const state = ledger()
  const committee = state?.committeeOf(epochOfSlot(parameters, slot)) ?? []
  const isValidator = committee.some((seat) => seat.accountId === accountId)
  const isDue =
    state !== undefined &&
    (await isCandidacyDue({ parameters, state, accountId }, slot, announcedSlot))
  const request = { issuance: await issuance(), payload: undefined }
  // The slot may have ended meanwhile, and the next one has a block of its own.
  const lastNs = BigInt(slotEnd(parameters, slot)) * 1_000_000_000n - 1n
  const nowNs = clock.nowNs()
  const building = { clock: { nowNs: () => (nowNs < lastNs ? nowNs : lastNs) }, network }
  const block = (isValidator ? buildVote : buildBlock)(building, issuer, request)
  if (!isDue) return [block]
  return [
    block,
    buildBlock(building, issuer, { ...request, payload: { type: CandidacyAnnouncement.code } }),
  ]
}

/** A block that needs no check, since it was built here. */
export function checkedOwnBlock(network: Network, block: Block): CheckedBlock {
  const bytes = encode(Block, block)
  const slot = slotOfTime(network.parameters, block.header.issuingTime)
  const { blockId } = identifyBlock(bytes, slot)
  return { block, bytes, blockId, slot, transaction: undefined }
}

import { readUpdates } from '../../feed/read.ts'
import { genesisBlockId } from '../../ledger/genesis.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { mapInTurns } from '../../lib/turns.ts'
import { BasicBlockBody, Block } from '../../protocol/block.ts'
import { is } from '../../protocol/is.ts'
import type { BlockId, CommitmentId, OutputId, SlotIndex } from '../../protocol/primitives.ts'
import { maxSlot, slotEnd, type TimeParameters } from '../../protocol/slots.ts'
import { decodeStored } from '../../protocol/stored.ts'
import type { Milestone } from '../../store/rows.ts'
import { addressText } from '../addresses/address-text.ts'
import type { Services } from '../services.ts'
import { fromPosition, type UpdatePosition, type UpdateSort } from '../updates/update-position.ts'

/** Lists of the explorer API: milestones, their updates and blocks (rest.md 3). */

export interface MilestoneUpdate {
  /** Bech32 address of the owner. */
  readonly address: string
  readonly outputId: OutputId
  readonly isSpent: boolean
}

/** A page of updates, and the position of the next update, if there is one. */
export interface MilestoneUpdatesPage {
  readonly updates: readonly MilestoneUpdate[]
  readonly next: Omit<UpdatePosition, 'milestoneIndex'> | undefined
}

/** The updates of the milestone are older than the retained log. */
export interface UpdatesNotKept {
  readonly code: 'UPDATES_NOT_KEPT'
  readonly slot: SlotIndex
}

/** Lists the updates of a milestone for all owners, in log order. */
export async function listMilestoneUpdates(
  { store: { read }, parameters }: Pick<Services, 'store' | 'parameters'>,
  { slot, firstSeq, lastSeq }: Milestone,
  page: {
    readonly from: Omit<UpdatePosition, 'milestoneIndex'> | undefined
    readonly pageSize: number
  },
): Promise<Result<MilestoneUpdatesPage, UpdatesNotKept>> {
  const tip = await read.logTip()
  const whole = { after: firstSeq - 1, before: lastSeq + 1 }
  const position = page.from && { milestoneIndex: slot, ...page.from }
  const begun = position && (await fromPosition(read, { sort: 'OLDEST', position, tip }))
  const rows = await readUpdates(read, {
    ...whole,
    after: Math.max(whole.after, begun?.after ?? 0),
    classes: ['OWNED'],
    limit: page.pageSize + 1,
    order: 'ascending',
  })
  // Read after the rows: pruning removes rows in batches, and a page without some of them would look complete.
  const { prunedSeq } = await read.logTip()
  if (firstSeq <= Math.min(lastSeq, prunedSeq)) return err({ code: 'UPDATES_NOT_KEPT', slot })
  const next = rows[page.pageSize]
  return ok({
    updates: rows.slice(0, page.pageSize).map(({ address, outputId, isSpent }) => ({
      address: addressText(parameters.bech32Hrp, address),
      outputId,
      isSpent,
    })),
    next: next && { outputId: next.outputId, isSpent: next.isSpent },
  })
}

/** Commitment id and index of a milestone. */
export interface MilestoneName {
  readonly commitmentId: CommitmentId
  readonly index: SlotIndex
}

/** Selects milestones; `from` is the first milestone of the page, in the direction of the list. */
export interface MilestonesRequest {
  readonly firstSlot: SlotIndex
  readonly lastSlot: SlotIndex
  readonly sort: UpdateSort
  readonly from: SlotIndex | undefined
  readonly pageSize: number
}

/** Lists a page of milestones, and the next milestone, if there is one. */
export async function listMilestones(
  { store: { read } }: Pick<Services, 'store'>,
  { firstSlot, lastSlot, sort, from, pageSize }: MilestonesRequest,
): Promise<{
  readonly milestones: readonly MilestoneName[]
  readonly next: SlotIndex | undefined
}> {
  const isOldest = sort === 'OLDEST'
  const rows = await read.milestones({
    from: isOldest ? Math.max(firstSlot, from ?? firstSlot) : firstSlot,
    to: isOldest ? lastSlot : Math.min(lastSlot, from ?? lastSlot),
    order: isOldest ? 'ascending' : 'descending',
    limit: pageSize + 1,
  })
  return {
    milestones: rows
      .slice(0, pageSize)
      .map(({ commitmentId, slot: index }) => ({ commitmentId, index })),
    next: rows[pageSize]?.slot,
  }
}

/** The milestones whose timestamps lie in a range of Unix seconds; both ends are inclusive. */
export function milestonesWithin(
  parameters: TimeParameters,
  { start, end }: { readonly start: number | undefined; readonly end: number | undefined },
): { readonly firstSlot: SlotIndex; readonly lastSlot: SlotIndex } {
  const { genesisSlot, slotDurationInSeconds: duration } = parameters
  const genesisEnd = slotEnd(parameters, genesisSlot)
  const slots = (seconds: number) => (seconds - genesisEnd) / duration
  return {
    firstSlot: start === undefined ? 0 : Math.max(0, genesisSlot + Math.ceil(slots(start))),
    // A range that ends before the genesis has no milestones.
    lastSlot: end === undefined ? maxSlot : Math.max(-1, genesisSlot + Math.floor(slots(end))),
  }
}

/** A block and the type code of its payload. */
export interface CarriedPayload {
  readonly blockId: BlockId
  /** Position of the block in the order of arrival. */
  readonly position: number
  /** `null` if the block has no payload. */
  readonly payloadType: number | null
}

export interface SlotBlocks {
  readonly blocks: readonly CarriedPayload[]
  /** The next block, if there is one. */
  readonly next: CarriedPayload | undefined
}

/** Lists the accepted blocks of a slot, in the order of arrival or in reverse. */
export async function listSlotBlocks(
  { store: { read } }: Pick<Services, 'store'>,
  slot: SlotIndex,
  page: { readonly sort: UpdateSort; readonly from: number | undefined; readonly pageSize: number },
): Promise<SlotBlocks> {
  const rows = await read.slotBlocks(slot, {
    order: page.sort === 'OLDEST' ? 'ascending' : 'descending',
    from: page.from,
    limit: page.pageSize + 1,
  })
  const blocks = await mapInTurns(rows, ({ blockId, inbox: position, bytes }) => {
    const { body } = decodeStored(Block, bytes)
    const payload = is(BasicBlockBody, body) ? body.payload : undefined
    return { blockId, position, payloadType: payload?.type ?? null }
  })
  return { blocks: blocks.slice(0, page.pageSize), next: blocks[page.pageSize] }
}

/** Counts the accepted blocks of a slot. */
export async function countSlotBlocks(
  { store: { read } }: Pick<Services, 'store'>,
  slot: SlotIndex,
): Promise<number> {
  return (await read.countBlocks(slot, slot)).accepted
}

/** Lists a page of the blocks that refer to a block, by arrival; `undefined` if the block is not known. */
export async function listChildren(
  { store: { read }, parameters }: Pick<Services, 'store' | 'parameters'>,
  blockId: BlockId,
  { page, pageSize }: { readonly page: number; readonly pageSize: number },
): Promise<readonly BlockId[] | undefined> {
  const isKnown =
    (await read.block(blockId)) !== undefined ||
    // The first blocks of a network refer to a block that does not exist.
    blockId === genesisBlockId(parameters)
  return isKnown
    ? await read.children(blockId, { skip: page * pageSize, limit: pageSize })
    : undefined
}

/** Reads the position of a block in the order of arrival; `undefined` if the block is not known. */
export async function positionOfBlock(
  { store: { read } }: Pick<Services, 'store'>,
  blockId: BlockId,
): Promise<number | undefined> {
  return (await read.block(blockId))?.inbox
}

import { present } from '../../lib/assert.ts'
import { ok, type Result } from '../../lib/result.ts'
import type { SlotIndex, TransactionId } from '../../protocol/primitives.ts'
import type { Acceptance, IncomingBlock } from '../contract.ts'
import type { BlockRow } from '../rows.ts'
import { insertParents, knownBlocks } from '../sql/blocks.ts'
import * as table from '../sql/bulk-tables.ts'
import type { RawWriting } from '../sql/statements.ts'
import type { CarriedTransaction } from '../sql/transactions.ts'

/** The inbox. Acceptance and closing of slots lock the row of the writer, so that no block is accepted into a closed slot. */

/** The outcomes for some blocks, and the first unused position of the inbox. */
export interface Accepted {
  readonly answers: Acceptance[]
  readonly nextInbox: number
}

/** Stores the new blocks of open slots as pending, with their transactions. */
export async function acceptBlocks(
  writing: RawWriting,
  blocks: readonly IncomingBlock[],
): Promise<Accepted> {
  const { tx, sql } = writing
  const allocated = present(await sql.allocatePositions(tx, blocks.length), 'writer row')
  const { openFrom, nextInbox } = allocated
  const first = Number(nextInbox) - blocks.length
  const known = await knownBlocks(writing, blocks)
  const kept: (IncomingBlock & Pick<BlockRow, 'inbox' | 'state'>)[] = []
  const answers = blocks.map((block, i): Acceptance => {
    if (known.has(block.blockId)) return 'KNOWN'
    if (block.slot < Number(openFrom)) return 'SLOT_CLOSED'
    known.add(block.blockId)
    kept.push({ ...block, inbox: first + i, state: 'PENDING' })
    return 'ACCEPTED'
  })
  if (kept.length > 0) await sql.insert(tx, table.blocks, kept)
  await insertParents(writing, kept)
  const carried = carriedTransactions(kept)
  if (carried.length > 0) await sql.insertTransactions(tx, carried)
  // The notification reaches a writer in another process.
  if (kept.length > 0) await sql.notify(tx, { topic: 'BLOCKS_ACCEPTED' })
  return { answers, nextInbox: Number(nextInbox) }
}

/** Returns the transactions of some blocks, each once. Several blocks may carry the same transaction. */
function carriedTransactions(blocks: readonly IncomingBlock[]): CarriedTransaction[] {
  const carried = new Map<TransactionId, CarriedTransaction>()
  for (const { transactionId, blockId, slot } of blocks) {
    if (transactionId === undefined) continue
    const carriers = (carried.get(transactionId)?.carriers ?? 0) + 1
    const first = carried.get(transactionId) ?? { transactionId, blockId, slot, state: 'PENDING' }
    carried.set(transactionId, { ...first, carriers })
  }
  return [...carried.values()]
}

/** Sets the first open slot to the slot after `upTo`, if it is lower. All blocks of earlier slots have positions before `nextInbox`. */
export async function closeSlots(
  { tx, sql }: RawWriting,
  upTo: SlotIndex,
): Promise<Result<Pick<Accepted, 'nextInbox'>, never>> {
  await sql.raiseOpenFrom(tx, upTo + 1)
  const { nextInbox } = present(await sql.allocatePositions(tx, 0), 'writer row')
  return ok({ nextInbox: Number(nextInbox) })
}

import { ok, type Result } from '../lib/result.ts'
import type { SlotIndex, TransactionId } from '../protocol/primitives.ts'
import type { Acceptance, IncomingBlock, LeaseTerm } from './contract.ts'
import type { BlockRow } from './rows.ts'
import { insertParents, knownBlocks } from './sql/blocks.ts'
import * as table from './sql/bulk-tables.ts'
import type { Writing } from './sql/statements.ts'
import type { CarriedTransaction } from './sql/transactions.ts'

/** The inbox. Accepting and closing exclude each other on the writer's row, so that no block slips into a closed slot. */

/** Keeps the new blocks of open slots as pending, with their transactions. */
export async function acceptBlocks(
  writing: Writing,
  blocks: readonly IncomingBlock[],
): Promise<Acceptance[]> {
  const { tx, sql } = writing
  const { openFrom, nextInbox } = await tx.writer.update({
    where: { id: 1n },
    data: { nextInbox: { increment: blocks.length } },
  })
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
  // The writer may be another process.
  if (kept.length > 0) await sql.notify(tx, { topic: 'BLOCKS_ACCEPTED' })
  return answers
}

/** Several blocks may carry one transaction. */
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

/** Raises the first open slot to the one after `upTo`, if it is lower. */
export async function closeSlots(
  { tx }: Writing,
  term: number,
  upTo: SlotIndex,
): Promise<Result<LeaseTerm, never>> {
  const openFrom = BigInt(upTo) + 1n
  await tx.writer.updateMany({ where: { id: 1n, openFrom: { lt: openFrom } }, data: { openFrom } })
  return ok({ term })
}

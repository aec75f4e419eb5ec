import { ok, type Result } from '../lib/result.ts'
import type { SlotIndex, TransactionId } from '../protocol/primitives.ts'
import type { Acceptance, IncomingBlock, LeaseTerm } from './contract.ts'
import type { CarriedTransaction, Writing } from './sql/statements.ts'

/** The inbox. Accepting and closing exclude each other on the writer's row, so that no block slips into a closed slot. */

/** Keeps the new blocks of open slots as pending, with their transactions. */
export async function acceptBlocks(
  { tx, sql }: Writing,
  blocks: readonly IncomingBlock[],
): Promise<Acceptance[]> {
  const { openFrom, nextInbox } = await tx.writer.update({
    where: { id: 1n },
    data: { nextInbox: { increment: blocks.length } },
  })
  const first = Number(nextInbox) - blocks.length
  const known = await sql.knownBlocks(
    tx,
    blocks.map(({ blockId }) => blockId),
  )
  const kept: (IncomingBlock & { inbox: number })[] = []
  const answers = blocks.map((block, i): Acceptance => {
    if (known.has(block.blockId)) return 'KNOWN'
    if (block.slot < Number(openFrom)) return 'SLOT_CLOSED'
    known.add(block.blockId)
    kept.push({ ...block, inbox: first + i })
    return 'ACCEPTED'
  })
  if (kept.length > 0) await sql.insertBlocks(tx, kept)
  const parents = kept.flatMap(({ blockId: child, parents = [] }) =>
    [...new Set(parents)].map((parent) => ({ parent, child })),
  )
  if (parents.length > 0) await sql.insertParents(tx, parents)
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
    const former = carried.get(transactionId) ?? { transactionId, blockId, slot, carriers: 0 }
    carried.set(transactionId, { ...former, carriers: former.carriers + 1 })
  }
  return [...carried.values()]
}

/** Raises the first open slot to the one behind `upTo`, or leaves it. */
export async function closeSlots(
  { tx }: Writing,
  term: number,
  upTo: SlotIndex,
): Promise<Result<LeaseTerm, never>> {
  const openFrom = BigInt(upTo) + 1n
  await tx.writer.updateMany({ where: { id: 1n, openFrom: { lt: openFrom } }, data: { openFrom } })
  return ok({ term })
}

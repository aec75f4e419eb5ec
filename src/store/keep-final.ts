import type { FinalBlocks } from './contract.ts'
import type { Writing } from './sql/statements.ts'

/** Blocks that a node behind told: they never were in the inbox, so they stand below its first place. */

/** Keeps what is not known yet. */
export async function keepFinal(
  { tx, sql }: Writing,
  { blocks, transactions }: FinalBlocks,
): Promise<void> {
  const known = await sql.knownBlocks(
    tx,
    blocks.map(({ blockId }) => blockId),
  )
  const unknown = blocks.filter(({ blockId }) => !known.has(blockId))
  const { nextInbox } = await tx.writer.update({
    where: { id: 1n },
    data: { nextInbox: { increment: unknown.length } },
  })
  const last = Number(nextInbox)
  const rows = unknown.map((block, i) => ({ ...block, inbox: -(last - i) }))
  await sql.insertBlocks(tx, rows)
  await sql.markBlocks(
    tx,
    rows.map(({ blockId }) => ({ blockId, state: 'FINALIZED' })),
  )
  const references = unknown.flatMap(({ blockId: child, parents = [] }) =>
    [...new Set(parents)].map((parent) => ({ parent, child })),
  )
  if (references.length > 0) await sql.insertParents(tx, references)
  await sql.insertTransactions(
    tx,
    transactions.map((transaction) => ({ ...transaction, carriers: 1 })),
  )
  await sql.markTransactions(
    tx,
    transactions.map((transaction) => ({ ...transaction, allotments: [] })),
  )
}

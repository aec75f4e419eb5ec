import { present } from '../../lib/assert.ts'
import type { FinalBlocks } from '../contract.ts'
import { insertParents, knownBlocks } from '../sql/blocks.ts'
import * as table from '../sql/bulk-tables.ts'
import type { Writing } from '../sql/statements.ts'
import { judge } from '../sql/transactions.ts'

/** Stores final blocks that the upstream node reported. They were never in the inbox, so their positions are negative. */

/** Stores blocks and transactions, except those that are already stored. */
export async function storeFinalBlocks(
  writing: Writing,
  { blocks, transactions }: FinalBlocks,
): Promise<void> {
  const { tx, sql } = writing
  // This locks the row of the inbox, before the read: another process may be storing the same blocks.
  const allocated = present(await sql.allocatePositions(tx, blocks.length), 'writer row')
  const known = await knownBlocks(writing, blocks)
  const unknown = blocks.filter(({ blockId }) => !known.has(blockId))
  const last = Number(allocated.nextInbox)
  const rows = unknown.map((block, i) => ({
    ...block,
    inbox: -(last - i),
    state: 'FINALIZED' as const,
  }))
  await sql.insert(tx, table.blocks, rows)
  await insertParents(writing, rows)
  await sql.insertTransactions(
    tx,
    transactions.map((transaction) => ({ ...transaction, state: 'PENDING', carriers: 1 })),
  )
  await sql.update(
    tx,
    table.verdicts,
    transactions.map((transaction) => ({ ...transaction, allotments: [] })),
    judge,
  )
}

import { present } from '../lib/assert.ts'
import type { Tx } from './client.ts'
import { toPrunedTip } from './mapping.ts'
import type { PruneRequest, PruneResult } from './prune-contract.ts'
import { publishPruned } from './publish.ts'
import type { PrunedTip } from './rows.ts'
import { prunedTips } from './sql/bulk-tables.ts'
import type { Writing } from './sql/statements.ts'

/** Removes the oldest rows of the log. The newest removed row of each address is kept, so that its history can be continued. */
export async function pruneLog(
  writing: Writing,
  { milestones, rows: limit }: PruneRequest,
): Promise<PruneResult> {
  const { tx, sql } = writing
  const newest = await tx.commitment.findFirst({ orderBy: { slot: 'desc' } })
  const { slot, lastSeq } = present(newest, 'genesis commitment')
  const prunedSeq = await prunedSeqOf(tx, Number(lastSeq))
  const cut = await tx.commitment.findUnique({ where: { slot: slot - BigInt(milestones) } })
  const target = Number(cut?.lastSeq ?? 0n)
  const upTo = Math.min(target, prunedSeq + limit)
  if (upTo <= prunedSeq) return { prunedSeq, isDone: true }
  const seq = { lte: BigInt(upTo) }
  const rows = await tx.ledgerUpdate.findMany({ where: { seq }, orderBy: { seq: 'asc' } })
  const tips = new Map<string, PrunedTip>()
  for (const row of rows.map(toPrunedTip)) tips.set(row.class + row.address, row)
  await sql.put(tx, prunedTips, [...tips.values()])
  await tx.ledgerUpdate.deleteMany({ where: { seq } })
  await publishPruned(writing)
  return { prunedSeq: upTo, isDone: upTo === target }
}

/**
 * The position before the first row of the log, or where no row is left its end, `lastSeq`. That was read before: rows
 * that are appended in between must not count as gone.
 */
export async function prunedSeqOf(
  client: Pick<Tx, 'ledgerUpdate'>,
  lastSeq: number,
): Promise<number> {
  const orderBy = { seq: 'asc' } as const
  const first = await client.ledgerUpdate.findFirst({ orderBy, select: { seq: true } })
  return first === null ? lastSeq : Number(first.seq) - 1
}

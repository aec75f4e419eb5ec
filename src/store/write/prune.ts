import { present } from '../../lib/assert.ts'
import type { PruneRequest, PruneResult } from '../contract/prune.ts'
import type { PrunedTip } from '../rows.ts'
import { prunedTips } from '../sql/bulk-tables.ts'
import type { Writing } from '../sql/statements.ts'
import { publishPruned } from './publish.ts'

/**
 * Prunes the oldest rows of the log. The newest pruned row of each address is stored, so that its history can be continued. In a log in one
 * table the rows are deleted. In a partitioned log they are hidden, and deleted with their whole partition. In a sharded log they are
 * hidden until no snapshot reads them.
 */
export async function pruneLog(
  writing: Writing,
  { milestones, rows: limit }: PruneRequest,
): Promise<PruneResult> {
  const { tx, sql } = writing
  // A former writer may still prune. Between its reads and writes its successor must not prune more, whose newer tips it would replace.
  await sql.lockPruning(tx)
  const newest = await tx.commitment.findFirst({ orderBy: { slot: 'desc' } })
  const { slot, lastSeq } = present(newest, 'genesis commitment')
  const prunedSeq = await prunedSeqOf(writing, Number(lastSeq))
  const partitions = (await sql.partitions?.ofLog(tx)) ?? []
  const [oldest] = partitions
  if (partitions.length > 1 && oldest !== undefined && oldest.to - 1 <= prunedSeq) {
    if (await sql.partitions?.drop(tx, oldest)) return { prunedSeq, isDone: false }
  }
  const isSharded = sql.shards?.isOn() === true
  if (isSharded) await sql.shards?.removeHidden(tx, prunedSeq, limit)
  const cut = await tx.commitment.findUnique({ where: { slot: slot - BigInt(milestones) } })
  const target = Number(cut?.lastSeq ?? 0n)
  const upTo = Math.min(target, prunedSeq + limit)
  if (upTo <= prunedSeq) return { prunedSeq, isDone: true }
  const isHidden = oldest !== undefined || isSharded
  const seq = { ...(isHidden ? { gt: BigInt(prunedSeq) } : {}), lte: BigInt(upTo) }
  const rows = await tx.ledgerUpdate.findMany({ where: { seq }, orderBy: { seq: 'asc' } })
  const tips = new Map<string, PrunedTip>()
  for (const row of rows.map(prunedTips.rowFrom)) tips.set(row.class + row.address, row)
  await sql.put(tx, prunedTips, [...tips.values()])
  if (!isHidden) await tx.ledgerUpdate.deleteMany({ where: { seq } })
  await publishPruned(writing, isHidden ? upTo : undefined)
  return { prunedSeq: upTo, isDone: upTo === target }
}

/**
 * Returns the position before the first row that is not pruned; `lastSeq` if no row is left. `lastSeq` is the end of the log as read
 * earlier, so that rows which are appended in between do not count as pruned.
 */
export async function prunedSeqOf({ tx, sql }: Writing, lastSeq: number): Promise<number> {
  const { shards } = sql
  // Any process may prune, even one that has not held the lease since the log was distributed.
  if ((await shards?.detect(tx)) === true) return (await shards?.hiddenUpTo(tx)) ?? 0
  const orderBy = { seq: 'asc' } as const
  const first = await tx.ledgerUpdate.findFirst({ orderBy, select: { seq: true } })
  const removed = first === null ? lastSeq : Number(first.seq) - 1
  return Math.max(removed, (await sql.partitions?.hiddenUpTo(tx)) ?? 0)
}

import { setTimeout as delay } from 'node:timers/promises'
import { present } from '../../lib/assert.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { PartitionError, Partitioning } from '../contract/partition.ts'
import {
  buildIndexes,
  copyRows,
  createCopy,
  detachedTables,
  dropTables,
  exchange,
  markForSplit,
} from '../sql/postgresql/partitioning.ts'
import { formOfLog, partitionOf } from '../sql/postgresql/partitions.ts'
import type { LogPartition } from '../sql/statements.ts'
import { maxNamedAgeMs } from './log-forms.ts'

/**
 * Splits partitions that are larger than requested, which mostly concerns the first one. Copies their rows into new tables while other
 * sessions continue, and then replaces the partition by these tables. Log rows never change, so a copy stays valid.
 */
export async function splitPartitions(
  partitioning: Partitioning,
): Promise<Result<void, PartitionError>> {
  const { raw, isSplit, rows } = partitioning
  if (!isSplit) return ok(undefined)
  for (;;) {
    const { partitions } = await formOfLog(raw)
    const newest = present(partitions.at(-1), 'a partition')
    const width = rows ?? newest.to - newest.from
    const tip = await publishedTip(raw)
    const whole = partitions.find(({ from, to }) => to - from > width && from <= tip.seq)
    if (whole === undefined) {
      await dropCopies(raw, [])
      return ok(undefined)
    }
    const ranges = rangesOf(whole, width, tip.prunedSeq)
    const done = await split(partitioning, whole, ranges).catch(async (failure: unknown) => {
      // The pruner drops a partition whose rows are all hidden, and its copies are removed with the next ones.
      if (await isPartition(raw, whole)) throw failure
      return ok(undefined)
    })
    if (!done.ok) return done
  }
}

async function isPartition(raw: Partitioning['raw'], { name }: LogPartition): Promise<boolean> {
  return (await formOfLog(raw)).partitions.some((partition) => partition.name === name)
}

interface Tip {
  readonly seq: number
  readonly prunedSeq: number
}

async function publishedTip(raw: Partitioning['raw']): Promise<Tip> {
  const [tip] = await raw.$queryRawUnsafe<{ seq: bigint; prunedSeq: bigint }[]>(
    'SELECT seq, "prunedSeq" FROM published_tip',
  )
  const { seq, prunedSeq } = present(tip, 'a published tip')
  return { seq: Number(seq), prunedSeq: Number(prunedSeq) }
}

/** Returns the ranges of a partition that are not pruned. Boundaries inside the partition are multiples of the width. */
export function rangesOf(whole: LogPartition, width: number, prunedSeq: number): LogPartition[] {
  const from = Math.max(whole.from, Math.floor(prunedSeq / width) * width + 1)
  const ranges: LogPartition[] = []
  for (let at = from; at < whole.to; ) {
    const end = Math.min(Math.floor((at - 1) / width) * width + width + 1, whole.to)
    ranges.push(partitionOf(at, end))
    at = end
  }
  return ranges
}

async function split(
  partitioning: Partitioning,
  whole: LogPartition,
  ranges: readonly LogPartition[],
): Promise<Result<void, PartitionError>> {
  const { raw } = partitioning
  await dropCopies(raw, ranges)
  for (const range of ranges) await createCopy(raw, range)
  for (const range of ranges) {
    const copied = await copyAll(partitioning, whole, range)
    if (!copied.ok) return copied
    await buildIndexes(raw, range)
  }
  // Once every process has refreshed its form of the log, no statement names the partition.
  await markForSplit(raw, whole.name)
  await delay(2 * maxNamedAgeMs)
  const left = await partitioning.lock.afterReaders()
  if (!left.ok) return left
  const exchanged = await takePlace(partitioning, whole, ranges)
  if (!exchanged.ok) return exchanged
  const { former } = await detachedTables(raw)
  await dropTables(raw, former)
  return ok(undefined)
}

/** Drops all copies but those of the ranges. */
async function dropCopies(
  raw: Partitioning['raw'],
  ranges: readonly LogPartition[],
): Promise<void> {
  const { copies } = await detachedTables(raw)
  const names = copies.map(({ name }) => name)
  await dropTables(
    raw,
    names.filter((name) => ranges.every((range) => range.name !== name)),
  )
}

/** Replaces the partition by the copies. The writer waits while the last rows are copied. Readers wait only for the exchange. */
async function takePlace(
  partitioning: Partitioning,
  whole: LogPartition,
  ranges: readonly LogPartition[],
): Promise<Result<void, PartitionError>> {
  const { beside, lock } = partitioning
  for (const range of ranges) {
    // Copies the rows that were written meanwhile, so that few rows are left to copy under the lock.
    const copied = await copyAll(partitioning, whole, range)
    if (!copied.ok) return copied
  }
  return await lock.afterWriters({
    prepare: async () => {
      for (const range of ranges) {
        if ((await copyRows(beside, range, maxLockedRows)) === maxLockedRows) return false
      }
      return true
    },
    work: (tx) => exchange(tx, whole, ranges),
  })
}

async function copyAll(
  { raw, signal, onProgress }: Partitioning,
  whole: LogPartition,
  range: LogPartition,
): Promise<Result<void, PartitionError>> {
  for (;;) {
    if (signal.aborted) return err({ code: 'PARTITION_INTERRUPTED' })
    const copied = await copyRows(raw, range, rowsPerBatch)
    if (copied < rowsPerBatch) return ok(undefined)
    const { seq, prunedSeq } = await publishedTip(raw)
    const before = Math.max(prunedSeq, whole.from - 1)
    const [last] = await raw.$queryRawUnsafe<{ seq: bigint }[]>(
      `SELECT max(seq) AS seq FROM "${range.name}"`,
    )
    onProgress({
      rows: Number(last?.seq ?? 0) - before,
      ofRows: Math.min(seq, whole.to - 1) - before,
    })
  }
}

/** Rows per copy statement, which takes half a second on a small server. */
const rowsPerBatch = 20_000

/** Maximum number of rows that are copied under the lock, which takes some 50 ms. */
const maxLockedRows = 2_000

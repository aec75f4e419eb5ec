import { err, ok, type Result } from '../../lib/result.ts'
import type { RawTx } from '../client.ts'
import type {
  PartitionError,
  PartitionedLog,
  Partitioning,
  PartitionOptions,
} from '../contract/partition.ts'
import type { Database } from '../database.ts'
import type { RawConnection } from '../raw-transactions.ts'
import {
  becomePartitioned,
  beginCheck,
  detachedTables,
  dropTables,
  obstaclesOf,
  unmarkForSplit,
  validateText,
} from '../sql/postgresql/partitioning.ts'
import { addPartition, after, formOfLog } from '../sql/postgresql/partitions.ts'
import { timeoutsOff } from '../sql/postgresql/transaction.ts'
import { withLogLock } from './log-lock.ts'
import { splitPartitions } from './split-partitions.ts'

/**
 * Partitions the log of PostgreSQL by ranges of positions, while gateways read and write it. Each step is a transaction that checks the
 * current state first. A repeated command therefore continues where the former one stopped, and concurrent commands are safe.
 */

/** Default number of positions per partition. */
const defaultWidth = 100_000_000

/** Partitions the log if it is not partitioned yet, and splits partitions that are larger than requested. */
export async function partitionLog(
  database: Database,
  options: PartitionOptions,
): Promise<Result<PartitionedLog, PartitionError>> {
  if (database.statements.partitions === undefined) return err({ code: 'PARTITIONS_NOT_SUPPORTED' })
  if ((await database.reader.import.count()) > 0) return err({ code: 'IMPORT_UNFINISHED' })
  if ((await database.reader.network.count()) === 0) return err({ code: 'NOTHING_TO_PARTITION' })
  if ((await database.statements.shards?.detect(database.raw)) === true)
    return err({ code: 'LOG_IN_SHARDS' })
  return withLogLock(database, options, async ({ raw: timed, beside, lock }) => {
    const raw = withoutTimeouts(timed)
    const converted = await convert({ raw, beside, lock, ...options })
    if (!converted.ok) return converted
    await settle(raw, options)
    const split = await splitPartitions({ raw, beside, lock, ...options })
    if (!split.ok) return split
    await raw.$executeRawUnsafe('ANALYZE ledger_updates')
    const { partitions } = await formOfLog(raw)
    return ok({ partitions, lockedMs: lock.longestMs() })
  })
}

/** Runs each statement in a transaction without the timeouts of the role: it may read or copy the whole log. */
function withoutTimeouts(raw: RawConnection): RawConnection {
  return {
    ...raw,
    $executeRawUnsafe: (text, ...parameters) =>
      raw.transact(async (tx) => {
        await tx.$executeRawUnsafe(timeoutsOff)
        return tx.$executeRawUnsafe(text, ...parameters)
      }),
  }
}

/** Replaces the table of the log by a partitioned table, in three steps that may be days apart. */
async function convert({
  raw,
  lock,
  rows = defaultWidth,
  signal,
}: Partitioning): Promise<Result<void, PartitionError>> {
  for (;;) {
    const { partitions, checkedTo } = await formOfLog(raw)
    if (partitions.length > 0) return ok(undefined)
    const dependents = await obstaclesOf(raw)
    if (dependents.length > 0) return err({ code: 'LOG_HAS_DEPENDENTS', dependents })
    if (checkedTo !== undefined) await raw.$executeRawUnsafe(validateText)
    if (signal.aborted) return err({ code: 'PARTITION_INTERRUPTED' })
    const done = await lock.under(async (tx) => {
      const form = await formOfLog(tx)
      // Another command was faster, or the writer has reached the end of the range.
      if (form.partitions.length > 0 || form.checkedTo !== checkedTo) return
      if (checkedTo === undefined) await beginCheck(tx, firstEnd(await lastSeq(tx), rows))
      else await becomePartitioned(tx, checkedTo, rows)
    })
    if (!done.ok) return done
  }
}

/**
 * Returns the end of the first partition: a multiple of the width that is far enough beyond the tip that the log does not reach it before
 * all rows are checked.
 */
export function firstEnd(tip: number, width: number): number {
  const margin = Math.max(width / 2, tip / 10)
  return Math.ceil((tip + margin) / width) * width + 1
}

async function lastSeq(tx: RawTx): Promise<number> {
  const [row] = await tx.$queryRawUnsafe<{ seq: bigint | null }[]>(
    'SELECT max(seq) AS seq FROM ledger_updates',
  )
  return Number(row?.seq ?? 0)
}

/** Removes tables that an unfinished split has left, and adds a partition of the requested width, which later partitions inherit. */
async function settle(raw: RawConnection, { rows, isSplit }: PartitionOptions): Promise<void> {
  const { copies, former } = await detachedTables(raw)
  await dropTables(raw, isSplit ? former : [...former, ...copies.map(({ name }) => name)])
  for (const { name } of (await formOfLog(raw)).splitting) await unmarkForSplit(raw, name)
  await raw.transact(async (tx) => {
    const newest = (await formOfLog(tx)).partitions.at(-1)
    if (newest === undefined || rows === undefined || newest.to - newest.from === rows) return
    await addPartition(tx, after(newest, rows))
  })
}

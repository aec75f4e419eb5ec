import { present } from '../../lib/assert.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import type { Parameter, Rows } from '../database.ts'
import type { LogRange } from '../rows.ts'
import { logTable } from './published.ts'
import type { Reading } from './reading.ts'
import type { LogPartition } from './statements.ts'
import { quoted } from './tables.ts'

/**
 * Scans of a log that may be in partitions. A scan of all partitions reads the first row of each, but most pages lie in one partition. So
 * a read queries the partition where the scan begins by its own name, and the whole log only for the rows that are still missing.
 */

/** A scan, as a statement on the log or on one of its partitions. */
export interface LogScan {
  /** Text of the statement on a table. */
  on(table: string, range: ScannedRange): string
  /** Same statement after one more row of as many columns, whose first two are the published tip and the last pruned position. */
  withTip(table: string, range: ScannedRange): string
  parameters(range: ScannedRange): readonly Parameter[]
  /** Whether a row is known to be the first row that the scan can ever return. */
  isFirst?(row: readonly unknown[]): boolean
}

export type ScannedRange = Pick<LogRange, 'after' | 'before' | 'limit' | 'order'>

/** Reads the rows of a range. */
export async function scanLog(
  { query, logForms }: Reading,
  scan: LogScan,
  range: ScannedRange,
): Promise<Rows> {
  const readLog = (part: ScannedRange) => query(scan.on(logTable, part), scan.parameters(part))
  const partition = partitionWith(logForms, startOf(logForms, range))
  if (partition === undefined) return await readLog(range)
  const found = await undefinedIfDropped(
    query(scan.withTip(quoted(partition.name), range), scan.parameters(range)),
  )
  if (found === undefined) return await readLog(range)
  const [first, ...rows] = found
  const [tip, prunedSeq] = present(first, 'published tip')
  const missing = missingPart(range, {
    ...{ partition, rows, isFirst: scan.isFirst },
    ...{ tip: Number(tip), prunedSeq: Number(prunedSeq) },
  })
  if (missing === undefined) return rows
  // The second read keeps the limit: PostgreSQL plans a statement with a common limit only once.
  return missing === range
    ? await readLog(range)
    : [...rows, ...(await readLog(missing)).slice(0, range.limit - rows.length)]
}

/** Rows of a range in the partition where the range begins. */
export interface FoundInPartition {
  readonly partition: LogPartition
  /** Published tip in the snapshot of the rows. */
  readonly tip: number
  /** Last pruned position in the same snapshot. */
  readonly prunedSeq: number
  readonly rows: Rows
  readonly isFirst: LogScan['isFirst'] | undefined
}

/** Returns the missing part of a range, or `undefined`. It is the whole range if the range begins in a newer partition by now. */
export function missingPart(
  range: ScannedRange,
  { partition: { from, to }, tip, prunedSeq, rows, isFirst }: FoundInPartition,
): ScannedRange | undefined {
  const { after, before, limit, order } = range
  const reaches = tip >= to && before > to
  if (order === 'ascending') {
    return rows.length >= limit || !reaches ? undefined : { ...range, after: to - 1 }
  }
  // The newest rows are in a newer partition.
  if (reaches) return range
  if (rows.length >= limit || Math.max(after, prunedSeq) >= from - 1) return undefined
  const last = rows.at(-1)
  return last !== undefined && isFirst?.(last) === true ? undefined : { ...range, before: from }
}

/** Returns the position where a scan of a range begins, as far as this process knows. */
export function startOf(
  logForms: Reading['logForms'],
  { after, before, order }: ScannedRange,
): number {
  // Does not skip pruned positions: the snapshot of the read may be older.
  return order === 'ascending' ? after + 1 : Math.min(before - 1, logForms?.form().seq ?? 0)
}

/** Returns the partition that holds a position, if statements may name it. */
export function partitionWith(
  logForms: Reading['logForms'],
  seq: number,
): LogPartition | undefined {
  return logForms?.named().find(({ from, to }) => from <= seq && seq < to)
}

/** Resolves to the rows, or to `undefined` if a table that the statement names was dropped meanwhile. */
export async function undefinedIfDropped(found: Promise<Rows>): Promise<Rows | undefined> {
  try {
    return await found
  } catch (failure) {
    // undefined_table (PostgreSQL manual, appendix A).
    if (failure instanceof Error && 'code' in failure && failure.code === '42P01') return undefined
    throw failure
  }
}

/**
 * SQL of a scan after one row with the published tip and the last pruned position. `rest` are values for the other columns of that row.
 * Only PostgreSQL, which alone has partitions, runs it.
 */
export function withTip(rest: string, scan: string): string {
  return `SELECT seq, "prunedSeq", ${rest} FROM published_tip UNION ALL SELECT * FROM (${scan}) AS second`
}

/** Returns `make` with a cache of its results by text. */
export function memoized<T>(make: (text: string) => T): (text: string) => T {
  const made = new Map<string, T>()
  return (text) => getOrInsert(made, text, () => make(text))
}

import { present } from '../../lib/assert.ts'
import type { Parameter, Rows } from '../database.ts'
import type { LogRange } from '../rows.ts'
import { logTable } from './published.ts'
import type { Reading } from './reading.ts'
import type { LogPartition } from './statements.ts'
import { quoted } from './tables.ts'

/**
 * Scans of a log that may be in partitions. A scan of all partitions begins with the first row of each, and most pages are answered by
 * one: so the partition where the scan begins is asked by its own name, and the whole log for what is missing then.
 */

/** A scan, as a statement on the log or on one of its partitions. */
export interface LogScan {
  on(table: string, range: ScannedRange): string
  /** The same after a row with as many columns, of which the first two are the published tip and what is pruned. */
  withTip(table: string, range: ScannedRange): string
  parameters(range: ScannedRange): readonly Parameter[]
  /** Whether a row is known to be the first of those that the scan is about. */
  isFirst?(row: readonly unknown[]): boolean
}

/** A range and the order in which it is scanned. */
export type ScannedRange = Pick<LogRange, 'after' | 'before' | 'limit' | 'order'>

/** The rows of a range. */
export async function scanLog(
  { query, logForms }: Reading,
  scan: LogScan,
  range: ScannedRange,
): Promise<Rows> {
  const whole = (left: ScannedRange) => query(scan.on(logTable, left), scan.parameters(left))
  const partition = partitionWith(logForms, startOf(logForms, range))
  if (partition === undefined) return await whole(range)
  const found = await unlessGone(
    query(scan.withTip(quoted(partition.name), range), scan.parameters(range)),
  )
  if (found === undefined) return await whole(range)
  const [first, ...rows] = found
  const [tip, prunedSeq] = present(first, 'published tip')
  const left = leftOf(range, {
    ...{ partition, rows, isFirst: scan.isFirst },
    ...{ tip: Number(tip), prunedSeq: Number(prunedSeq) },
  })
  if (left === undefined) return rows
  // With the same limit, for with a usual one the statement is planned once.
  return left === range
    ? await whole(range)
    : [...rows, ...(await whole(left)).slice(0, range.limit - rows.length)]
}

/** What was found of a range in the partition where it begins. */
export interface FoundInPartition {
  readonly partition: LogPartition
  /** The published tip of the same moment. */
  readonly tip: number
  /** What was pruned then. */
  readonly prunedSeq: number
  readonly rows: Rows
  readonly isFirst: LogScan['isFirst'] | undefined
}

/** What of a range is not answered by that; the range itself where it begins elsewhere by now. */
export function leftOf(
  range: ScannedRange,
  { partition: { from, to }, tip, prunedSeq, rows, isFirst }: FoundInPartition,
): ScannedRange | undefined {
  const { after, before, limit, order } = range
  const reaches = tip >= to && before > to
  if (order === 'ascending') {
    return rows.length >= limit || !reaches ? undefined : { ...range, after: to - 1 }
  }
  // The newest rows are in a partition that was begun since.
  if (reaches) return range
  if (rows.length >= limit || Math.max(after, prunedSeq) >= from - 1) return undefined
  const last = rows.at(-1)
  return last !== undefined && isFirst?.(last) === true ? undefined : { ...range, before: from }
}

/** The first position of a range, as far as it is known. */
export function startOf(
  logForms: Reading['logForms'],
  { after, before, order }: ScannedRange,
): number {
  // Not behind what is pruned by now: a snapshot may be older.
  return order === 'ascending' ? after + 1 : Math.min(before - 1, logForms?.form().seq ?? 0)
}

/** The partition that holds a position, where statements may name it. */
export function partitionWith(
  logForms: Reading['logForms'],
  seq: number,
): LogPartition | undefined {
  return logForms?.named().find(({ from, to }) => from <= seq && seq < to)
}

/** `undefined` where a table that a statement names was removed since. */
export async function unlessGone(found: Promise<Rows>): Promise<Rows | undefined> {
  try {
    return await found
  } catch (failure) {
    // undefined_table (PostgreSQL manual, appendix A).
    if (failure instanceof Error && 'code' in failure && failure.code === '42P01') return undefined
    throw failure
  }
}

/**
 * A scan behind a row of the published tip and what is pruned; `rest` are values for its other columns. One statement, as
 * PostgreSQL has it, which alone has partitions.
 */
export function withTip(rest: string, scan: string): string {
  return `SELECT seq, "prunedSeq", ${rest} FROM published_tip UNION ALL SELECT * FROM (${scan}) AS second`
}

/** Makes something of each text once. */
export function lazily<T>(make: (text: string) => T): (text: string) => T {
  const made = new Map<string, T>()
  return (text) => {
    const known = made.get(text) ?? make(text)
    made.set(text, known)
    return known
  }
}

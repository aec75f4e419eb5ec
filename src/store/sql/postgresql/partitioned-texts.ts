import { isPublished } from '../published.ts'

/**
 * Rewrites statements for a log in partitions. All statements of the program are written for one table. This file alone knows the other
 * form.
 */

/**
 * SQL condition that excludes pruned rows that still exist. It is not a plain comparison, because PostgreSQL treats two comparisons of
 * one expression as a range and expects a two-hundredth of the rows.
 */
const isKept = '(+seq <= (SELECT "prunedSeq" FROM published_tip)) IS NOT TRUE'

const boundOfAddress = /(\(address, class, seq\) (?:>=|<=|>|<) \()(\?\d*),/g

/**
 * Returns the text for partitions. It replaces the address by a subquery, which is not a constant: if both bounds begin with the same
 * constant, PostgreSQL expects one row, and sorts the rows of all partitions instead of merging them in order.
 */
export function partitionedText(sql: string): string {
  return sql
    .replaceAll(isPublished, `${isPublished} AND ${isKept}`)
    .replaceAll(boundOfAddress, '$1(SELECT $2::bytea),')
}

import { isPublished } from '../published.ts'

/**
 * The form of statements for a log in partitions. The texts of the program are those for one table, and stay as they are where it is
 * one; this is the only place that knows of another form.
 */

/**
 * Leaves out rows that are pruned and still there. No comparison of its own, of which PostgreSQL would take two of one expression for a
 * range, and expect a two-hundredth of the rows.
 */
const isKept = '(+seq <= (SELECT "prunedSeq" FROM published_tip)) IS NOT TRUE'

const boundOfAddress = /(\(address, class, seq\) (?:>=|<=|>|<) \()(\?\d*),/g

/**
 * The text for partitions. Of a whole log the address is no constant: PostgreSQL expects one row of a list that begins and ends with the
 * same value, and would sort the rows of all partitions where it can merge them in their order.
 */
export function partitionedText(sql: string): string {
  return sql
    .replaceAll(isPublished, `${isPublished} AND ${isKept}`)
    .replaceAll(boundOfAddress, '$1(SELECT $2::bytea),')
}

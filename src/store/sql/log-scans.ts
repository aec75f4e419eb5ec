import type { AddressScan, Dialect } from './bulk.ts'
import { logTable, publishedUpdates } from './published.ts'

/** SQL of scans of the log, whether it is one table, partitioned or in shards. */

/** `FROM …` with conditions, order and limit: the rows of an address and class up to the published tip. */
export function scanOfAddress(
  dialect: Dialect,
  { table = logTable, ...scan }: AddressScan & { readonly table?: string | undefined },
): string {
  if (dialect.shards !== undefined) return dialect.shards.ofAddress(scan)
  const { name = 'ledger_updates', direction, limit, offset, ...rows } = scan
  const skipped = offset === undefined ? '' : ` OFFSET ${offset}`
  return `FROM ${publishedUpdates(name, table)} WHERE ${dialect.ofAddress(rows)} ORDER BY ${dialect.byPosition(direction)} LIMIT ${limit}${skipped}`
}

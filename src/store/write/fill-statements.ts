import type { SqlConnection } from '../client.ts'
import type { Database } from '../database.ts'
import { type BulkTable, type insertText, jsonOf } from '../sql/bulk.ts'

/** The parts of a database that fill tables after a migration. */
export type FilledDatabase = Pick<Database, 'tables' | 'statements'>

/** Writes rows on the connection of a migration. */
export function writeRows<R>(
  { statements: { dialect } }: FilledDatabase,
  connection: SqlConnection,
  text: typeof insertText,
  table: BulkTable<R>,
  rows: readonly R[],
): Promise<number> {
  const sql = text(dialect, table)
  const argTypes = [{ scalarType: 'string', arity: 'scalar' } as const]
  return connection.executeRaw({ sql, args: [jsonOf(dialect, table, rows)], argTypes })
}

import { logTable } from '../published.ts'
import type { ColumnKind, TableStatements } from '../statements.ts'
import { keyColumns, quoted, rowsOf, type SqlByKind, tablesOf } from '../tables.ts'
import { isShardedText } from './shards.ts'
import { timeoutsOff } from './transaction.ts'

/** Statements on whole tables of PostgreSQL. */
export const tableStatements: TableStatements = {
  async beginSnapshot(connection) {
    await rowsOf(connection, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    await rowsOf(connection, timeoutsOff)
  },

  async endSnapshot(connection) {
    // A failed statement has closed the connection already.
    await rowsOf(connection, 'ROLLBACK').catch(() => {})
  },

  async tables(connection, names) {
    const rows = await rowsOf(
      connection,
      // The information schema shows the keys of tables only to roles that may write them. `indkey` counts from 0.
      `SELECT c.relname::text, a.attname::text, format_type(a.atttypid, NULL),
        coalesce(array_position(k.indkey::smallint[], a.attnum) + 1, 0)
      FROM pg_class AS c
      JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      LEFT JOIN pg_index AS k ON k.indrelid = c.oid AND k.indisprimary
      WHERE c.relkind IN ('r', 'p')
        AND c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
      ORDER BY c.relname, a.attnum`,
    )
    const found = tablesOf(
      rows.filter(([name]) => names.has(String(name))),
      kindByType,
    )
    // A log in shards has another primary key, but the position orders its rows as well.
    return found.map((table) => (table.name === logTable ? { ...table, key: ['seq'] } : table))
  },

  async isSharded(connection) {
    const [[isSharded] = []] = await rowsOf(connection, isShardedText)
    return isSharded === true
  },

  async hiddenUpTo(connection) {
    const [[hidden] = []] = await rowsOf(
      connection,
      `SELECT "prunedSeq" FROM published_tip
      WHERE (SELECT relkind FROM pg_class WHERE oid = to_regclass('${logTable}')) = 'p'
        OR (${isShardedText})`,
    )
    return Number(hidden ?? 0)
  },

  async rowsAfterKey(connection, table, { after = [], limit }) {
    const key = keyColumns(table)
    const names = key.map(({ name }) => quoted(name)).join(', ')
    const values = key.map(({ kind }, i) => parsed[kind](`$${i + 1}::text`)).join(', ')
    const behind = after.length === 0 ? '' : `WHERE (${names}) > (${values})`
    const rows = await rowsOf(
      connection,
      `SELECT json_build_array(${table.columns.map(({ name, kind }) => printed[kind](quoted(name))).join(', ')})::text
      FROM ${quoted(table.name)} ${behind} ORDER BY ${names} LIMIT $${after.length + 1}`,
      after,
      limit,
    )
    return rows.map(([row]) => String(row))
  },

  insertRows(tx, table, json) {
    const names = table.columns.map(({ name }) => quoted(name)).join(', ')
    const values = table.columns.map(({ kind }, i) => parsed[kind](`(value ->> ${i})`)).join(', ')
    return tx.$executeRawUnsafe(
      `INSERT INTO ${quoted(table.name)} (${names})
      SELECT ${values} FROM jsonb_array_elements($1::jsonb) AS added (value)`,
      json,
    )
  },
}

const kindByType: ReadonlyMap<string, ColumnKind> = new Map([
  ['bigint', 'integer'],
  ['integer', 'integer'],
  ['bytea', 'bytes'],
  ['text', 'text'],
  ['boolean', 'boolean'],
])

/** SQL of a column as a member of a JSON row. */
const printed: SqlByKind = {
  bytes: (column) => `encode(${column}, 'hex')`,
  integer: (column) => `${column}::text`,
  text: (column) => column,
  boolean: (column) => column,
}

/** SQL of the value of a column, from the text of a JSON member. */
const parsed: SqlByKind = {
  bytes: (text) => `decode(${text}, 'hex')`,
  integer: (text) => `${text}::bigint`,
  text: (text) => text,
  boolean: (text) => `${text}::boolean`,
}

import type { ColumnKind, TableStatements } from '../statements.ts'
import { keyColumns, quoted, rowsOf, type SqlByKind, tablesOf } from '../tables.ts'

/** Statements on whole tables of SQLite. */
export const tableStatements: TableStatements = {
  beginSnapshot: (connection) => connection.executeScript('BEGIN'),
  endSnapshot: (connection) => connection.executeScript('ROLLBACK'),

  async tables(connection, names) {
    const rows = await rowsOf(
      connection,
      `SELECT m.name, c.name, c.type, c.pk FROM sqlite_master AS m, pragma_table_info(m.name) AS c
      WHERE m.type = 'table'
      ORDER BY m.name, c.cid`,
    )
    return tablesOf(
      rows.filter(([name]) => names.has(String(name))),
      kindByType,
    )
  },

  async rowsAfterKey(connection, table, { after, limit }) {
    const key = keyColumns(table)
    const names = key.map(({ name }) => quoted(name)).join(', ')
    const behind =
      after === undefined
        ? ''
        : `WHERE (${names}) > (${key.map(({ kind }) => parsed[kind]('?')).join(', ')})`
    const rows = await rowsOf(
      connection,
      `SELECT json_array(${table.columns.map(({ name, kind }) => printed[kind](quoted(name))).join(', ')}) FROM ${quoted(table.name)}
      ${behind} ORDER BY ${names} LIMIT ?`,
      after,
      limit,
    )
    return rows.map(([row]) => String(row))
  },

  insertRows(tx, table, json) {
    const names = table.columns.map(({ name }) => quoted(name)).join(', ')
    const values = table.columns.map(({ kind }, i) => parsed[kind](`value ->> ${i}`)).join(', ')
    return tx.$executeRawUnsafe(
      `INSERT INTO ${quoted(table.name)} (${names}) SELECT ${values} FROM json_each(?)`,
      json,
    )
  },
}

const kindByType: ReadonlyMap<string, ColumnKind> = new Map([
  ['BIGINT', 'integer'],
  ['INTEGER', 'integer'],
  ['BLOB', 'bytes'],
  ['TEXT', 'text'],
  ['BOOLEAN', 'boolean'],
])

/** SQL of a column as a member of a JSON row. */
const printed: SqlByKind = {
  // `hex` returns an empty text for no bytes, but also for NULL.
  bytes: (column) => `CASE WHEN ${column} IS NULL THEN NULL ELSE lower(hex(${column})) END`,
  integer: (column) => `CAST(${column} AS TEXT)`,
  text: (column) => column,
  boolean: (column) =>
    `json(CASE WHEN ${column} THEN 'true' WHEN NOT ${column} THEN 'false' ELSE 'null' END)`,
}

/** SQL of the value of a column, from the text of a JSON member. */
const parsed: SqlByKind = {
  bytes: (text) => `unhex(${text})`,
  integer: (text) => `CAST(${text} AS INTEGER)`,
  text: (text) => text,
  boolean: (text) => text,
}

import { present } from '../../lib/assert.ts'
import type { SqlConnection } from '../client.ts'
import { logTable } from './published.ts'
import type { Column, ColumnKind, Table } from './statements.ts'

/** Statements on whole tables that both databases share. Names come from the database, never from a request. */

/**
 * Converts rows of a catalogue to tables. The rows are sorted by table and column position. Each has table, column, type, and the
 * position in the primary key, which counts from 1 and is 0 for other columns.
 */
export function tablesOf(
  catalogue: readonly (readonly unknown[])[],
  kindByType: ReadonlyMap<string, ColumnKind>,
): Table[] {
  const rows = catalogue.map(([table, column, type, keyPosition]) => ({
    table: String(table),
    column: String(column),
    type: String(type),
    keyPosition: Number(keyPosition),
  }))
  const names = [...new Set(rows.map(({ table }) => table))]
  return names.map((name) => {
    const own = rows.filter(({ table }) => table === name)
    const columns = own.map(({ column, type }) => ({
      name: column,
      kind: present(kindByType.get(type), `kind of the type ${type} of ${name}.${column}`),
    }))
    const key = own
      .filter(({ keyPosition }) => keyPosition > 0)
      .sort((a, b) => a.keyPosition - b.keyPosition)
    return { name, columns, key: key.map(({ column }) => column) }
  })
}

/** Converts the SQL of a value, by the kind of its column. */
export type SqlByKind = { readonly [kind in ColumnKind]: (sql: string) => string }

export async function countRows(connection: SqlConnection, table: Table): Promise<number> {
  const [[count] = []] = await rowsOf(connection, `SELECT count(*) FROM ${quoted(table.name)}`)
  return Number(count)
}

/** Counts the rows of the log up to a position. */
export async function countUpdates(connection: SqlConnection, upTo: number): Promise<number> {
  const text = `SELECT count(*) FROM ${logTable} WHERE seq <= ${upTo}`
  const [[count] = []] = await rowsOf(connection, text)
  return Number(count)
}

/** Returns the columns of the primary key, in order. */
export function keyColumns(table: Table): Column[] {
  return table.key.map((name) =>
    present(
      table.columns.find((column) => column.name === name),
      `column ${name}`,
    ),
  )
}

/** Reads the last position of the log, and the position before its first row. */
export async function logBounds(
  connection: SqlConnection,
): Promise<{ seq: number; prunedSeq: number }> {
  const [[last] = []] = await rowsOf(
    connection,
    'SELECT "lastSeq" FROM commitments ORDER BY slot DESC LIMIT 1',
  )
  const seq = Number(last ?? 0)
  const [[first] = []] = await rowsOf(connection, 'SELECT min(seq) FROM ledger_updates')
  return { seq, prunedSeq: Number(first ?? seq + 1) - 1 }
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Selects rows. The parameters are `texts`, then `limit` if it is defined. */
export async function rowsOf(
  connection: SqlConnection,
  sql: string,
  texts: readonly string[] = [],
  limit?: number,
): Promise<unknown[][]> {
  const text = { scalarType: 'string', arity: 'scalar' } as const
  const number = { scalarType: 'int', arity: 'scalar' } as const
  const { rows } = await connection.queryRaw({
    sql,
    args: limit === undefined ? [...texts] : [...texts, limit],
    argTypes: [...texts.map(() => text), ...(limit === undefined ? [] : [number])],
  })
  return rows
}

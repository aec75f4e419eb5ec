import { DatabaseSync } from 'node:sqlite'
import { Pool, types } from 'pg'
import { databaseFile, databaseUrl } from './serve.ts'

/** Reads rows of the log by one prepared statement, as lists of column values. */

/** The newest rows of an address before a position. */
export type Rows = (
  address: Uint8Array,
  before: number,
  limit: number,
) => Promise<readonly (readonly unknown[])[]>

/** A position after every row. */
export const latest = Number.MAX_SAFE_INTEGER

// The pool connects at the first query. Bytes stay in PostgreSQL's text form, which is hexadecimal.
const pool = new Pool({ connectionString: databaseUrl })
types.setTypeParser(17, (text) => text)
let prepared = 0

/** Prepares the statement for columns. */
export function prepare(columns: string): Rows {
  const sql = `SELECT ${columns} FROM ledger_updates
    WHERE address = $1 AND class = 0 AND seq < $2 ORDER BY seq DESC LIMIT $3`
  return databaseFile === undefined ? onPostgresql(sql) : onSqlite(databaseFile, sql)
}

function onSqlite(file: string, sql: string): Rows {
  const statement = new DatabaseSync(file, { readOnly: true }).prepare(sql.replace(/\$\d/g, '?'))
  statement.setReturnArrays(true)
  return async (...parameters) => statement.all(...parameters) as unknown as unknown[][]
}

function onPostgresql(sql: string): Rows {
  const name = `rows-${++prepared}`
  return async (address, before, limit) => {
    const values = [Buffer.from(address), before, limit]
    return (await pool.query({ name, text: sql, values, rowMode: 'array' })).rows
  }
}

/** The bytes of a column in the gateway's hexadecimal form. */
export function hexOf(bytes: unknown): string {
  if (typeof bytes === 'string') return `0x${bytes.slice(2)}`
  const { buffer, byteOffset, byteLength } = bytes as Uint8Array<ArrayBuffer>
  return `0x${Buffer.from(buffer, byteOffset, byteLength).toString('hex')}`
}

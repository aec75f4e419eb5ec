import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
import { bytesToHex, type Hex } from '../../src/lib/hex.ts'

/** Reads the tables of a gateway without its store, from either database. */

/** One row. Each function reads a column of one type. */
export interface TableRow {
  hex<T extends Hex = Hex>(column: string): T
  bytes(column: string): Uint8Array
  number(column: string): number
  big(column: string): bigint
  text(column: string): string
  flag(column: string): boolean
  isNull(column: string): boolean
}

/** An open connection. */
export interface Tables {
  /** All rows of a table, in the order of the given columns. */
  rows(table: string, ...order: string[]): Promise<TableRow[]>
  close(): Promise<void>
}

/** Opens the database of a URL. All tables are read as of one moment, so that a gateway may write at the same time. */
export async function openTables(url: string): Promise<Tables> {
  const { query, close } = url.startsWith('file:') ? ofSqlite(url) : await ofPostgresql(url)
  return {
    rows: async (table, ...order) => {
      const sorted = order.length === 0 ? '' : ` ORDER BY ${order.map((one) => `"${one}"`).join()}`
      return (await query(`SELECT * FROM ${table}${sorted}`)).map(rowOf)
    },
    close,
  }
}

type Values = Readonly<Record<string, unknown>>

function ofSqlite(url: string) {
  const database = new DatabaseSync(url.slice('file:'.length), { readOnly: true })
  database.exec('BEGIN')
  return {
    query: async (sql: string): Promise<Values[]> => {
      const statement = database.prepare(sql)
      statement.setReadBigInts(true)
      return statement.all()
    },
    close: async () => database.close(),
  }
}

async function ofPostgresql(connectionString: string) {
  const client = new Client({ connectionString })
  await client.connect()
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
  return {
    query: async (sql: string): Promise<Values[]> => (await client.query(sql)).rows,
    close: () => client.end(),
  }
}

function rowOf(values: Values): TableRow {
  const value = (column: string) => {
    if (!(column in values)) throw new Error(`no column ${column}`)
    return values[column]
  }
  const bytes = (column: string) => Uint8Array.from(value(column) as Uint8Array)
  return {
    bytes,
    hex: <T extends Hex>(column: string) => bytesToHex(bytes(column)) as T,
    number: (column) => Number(value(column)),
    big: (column) => BigInt(value(column) as string | bigint),
    text: (column) => String(value(column)),
    flag: (column) => Boolean(Number(value(column))),
    isNull: (column) => value(column) === null,
  }
}

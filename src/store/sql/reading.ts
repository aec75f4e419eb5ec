import { present } from '../../lib/assert.ts'
import { type Hex, hexToBytes } from '../../lib/hex.ts'
import { passTurn } from '../../lib/turns.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import { type Between, type PageOrder, rowsPerTurn } from '../contract/list.ts'
import type { Database, Parameter } from '../database.ts'
import { type BulkTable, type Dialect, jsonOf, namesOf } from './bulk.ts'
import { type ReadTable, selected } from './columns.ts'
import { publishedSlot, publishedTable } from './published.ts'

/** Prepared reads of tables, without Prisma, in SQL that both databases understand. Each is declared once and run many times. */

/** Creates reads on one database. `rest` is the SQL after the name of the table. */
export interface Reading extends Pick<Database, 'query' | 'queryBoth' | 'logForms'> {
  readonly dialect: Dialect
  rows<Row>(
    table: ReadTable<never, Row>,
    rest: string,
  ): (...parameters: readonly Parameter[]) => Promise<Row[]>
  /** Reads all rows of a statement. `from` is the SQL after the columns. */
  rowsFrom<Row>(
    table: ReadTable<never, Row>,
    from: string,
  ): (...parameters: readonly Parameter[]) => Promise<Row[]>
  /** Reads the first row of a statement. */
  row<Row>(
    table: ReadTable<never, Row>,
    rest: string,
  ): (...parameters: readonly Parameter[]) => Promise<Row | undefined>
  /** Reads the rows with one of the given keys, without duplicates and in no order. Runs one statement for each `rowsPerTurn` keys. */
  keyed<Row, Key>(
    table: ReadTable<never, Row>,
    keys: BulkTable<Key>,
  ): (given: readonly Key[]) => Promise<Row[]>
  /** Reads rows with the newest committed slot, in one statement. `joined` is the SQL after `LEFT JOIN`; it calls the table by its name. */
  asOf<Row>(
    table: ReadTable<never, Row>,
    joined: string,
  ): (...parameters: readonly Parameter[]) => Promise<AsOf<Row>>
}

/** Rows of the ledger at the end of a slot. */
export interface AsOf<Row> {
  readonly slot: SlotIndex
  readonly rows: Row[]
}

export function both<T>(of: (direction: 'ASC' | 'DESC') => T): Record<PageOrder['order'], T> {
  return { ascending: of('ASC'), descending: of('DESC') }
}

/** Converts the bounds of a range to parameters: bytes, or numbers up to 2^53. */
export function boundsOf({ above, below }: Between): Parameter[] {
  return [...above, ...below].map((value) =>
    typeof value === 'string' ? hexToBytes(value as Hex) : Number(value),
  )
}

export function createReading({
  query,
  queryBoth,
  logForms,
  statements: { dialect },
}: Pick<Database, 'query' | 'queryBoth' | 'logForms'> & {
  readonly statements: Pick<Database['statements'], 'dialect'>
}): Reading {
  const rowsFrom: Reading['rowsFrom'] = (table, from) => {
    const text = `SELECT ${selected(dialect, table)} ${from}`
    return async (...parameters) => (await query(text, parameters)).map(table.rowOf)
  }
  const rows: Reading['rows'] = (table, rest) =>
    rowsFrom(table, `FROM ${publishedTable(table.name)} ${rest}`)

  return {
    query,
    queryBoth,
    logForms,
    dialect,
    rows,
    rowsFrom,
    row: (table, rest) => {
      const read = rows(table, rest)
      return async (...parameters) => (await read(...parameters))[0]
    },
    keyed: (table, keys) => keyedRead({ dialect, rows }, table, keys),
    asOf: (table, joined) => {
      const [key] = table.columns
      const text = `SELECT newest.slot, ${table.name}."${key?.name}" IS NOT NULL AS found,
          ${selected(dialect, table)}
        FROM ${publishedSlot} AS newest
        LEFT JOIN ${joined}`
      return async (...parameters) => {
        const found = await query(text, parameters)
        const [first] = present(found[0], 'genesis commitment')
        const joinedRows = found.filter(([, isFound]) => Boolean(isFound))
        return { slot: Number(first), rows: joinedRows.map((row) => table.rowOf(row.slice(2))) }
      }
    },
  }
}

function keyedRead<Row, Key>(
  { dialect, rows }: Pick<Reading, 'dialect' | 'rows'>,
  table: ReadTable<never, Row>,
  keys: BulkTable<Key>,
): (given: readonly Key[]) => Promise<Row[]> {
  const names = namesOf(keys.columns)
  // Not a join, which returns the row of a key twice if the key is given twice.
  const read = rows(
    table,
    `WHERE ${names} IN (SELECT ${names} FROM ${dialect.given(keys.columns)})`,
  )
  return async (given) => {
    if (given.length === 0) return []
    if (given.length <= rowsPerTurn) return await read(jsonOf(dialect, keys, given))
    // Duplicates may fall into different statements.
    const distinct = [...new Map(given.map((key) => [keys.valuesOf(key).join(), key])).values()]
    const found = []
    for (let at = 0; at < distinct.length; at += rowsPerTurn) {
      await passTurn()
      found.push(...(await read(jsonOf(dialect, keys, distinct.slice(at, at + rowsPerTurn)))))
    }
    return found
  }
}

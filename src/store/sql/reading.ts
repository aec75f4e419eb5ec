import { present } from '../../lib/assert.ts'
import { type Hex, hexToBytes } from '../../lib/hex.ts'
import { passTurn } from '../../lib/turns.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import type { Database, Parameter } from '../database.ts'
import { type Between, type PageOrder, rowsPerTurn } from '../list-contract.ts'
import { type BulkTable, type Dialect, jsonOf, namesOf } from './bulk.ts'
import { type ReadTable, selected } from './columns.ts'
import { publishedSlot, publishedTable } from './published.ts'

/** Prepared reads of tables, past Prisma, in SQL that both databases understand. Each is declared once and asked many times. */

/** Reads on one database. `rest` is what follows the name of the table. */
export interface Reading extends Pick<Database, 'query' | 'queryBoth' | 'logForms'> {
  readonly dialect: Dialect
  /** All rows that a statement finds. */
  rows<Row>(
    table: ReadTable<never, Row>,
    rest: string,
  ): (...parameters: readonly Parameter[]) => Promise<Row[]>
  /** All rows that a statement finds; `from` is all of it behind the columns. */
  rowsFrom<Row>(
    table: ReadTable<never, Row>,
    from: string,
  ): (...parameters: readonly Parameter[]) => Promise<Row[]>
  /** The first row that a statement finds. */
  row<Row>(
    table: ReadTable<never, Row>,
    rest: string,
  ): (...parameters: readonly Parameter[]) => Promise<Row | undefined>
  /** The rows that have one of some keys of one column, each once, in no order; a statement for each `rowsPerTurn` keys. */
  keyed<Row, Key>(
    table: ReadTable<never, Row>,
    keys: BulkTable<Key>,
  ): (given: readonly Key[]) => Promise<Row[]>
  /** The same with the newest committed slot, both of one moment. `joined` follows the JOIN, and names the table as it is called. */
  asOf<Row>(
    table: ReadTable<never, Row>,
    joined: string,
  ): (...parameters: readonly Parameter[]) => Promise<AsOf<Row>>
}

/** Rows as of the end of a slot. */
export interface AsOf<Row> {
  readonly slot: SlotIndex
  readonly rows: Row[]
}

/** One statement for each direction. */
export function both<T>(of: (direction: 'ASC' | 'DESC') => T): Record<PageOrder['order'], T> {
  return { ascending: of('ASC'), descending: of('DESC') }
}

/** The ends of a part as parameters: bytes, and numbers up to 2^53. */
export function boundsOf({ above, below }: Between): Parameter[] {
  return [...above, ...below].map((value) =>
    typeof value === 'string' ? hexToBytes(value as Hex) : Number(value),
  )
}

/** The reads of a database. */
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
      const ask = rows(table, rest)
      return async (...parameters) => (await ask(...parameters))[0]
    },
    keyed: (table, keys) => {
      const names = namesOf(keys.columns)
      // Not by a join, which gives the row of a key twice that is given twice.
      const ask = rows(
        table,
        `WHERE ${names} IN (SELECT ${names} FROM ${dialect.given(keys.columns)})`,
      )
      return async (given) => {
        if (given.length === 0) return []
        if (given.length <= rowsPerTurn) return await ask(jsonOf(dialect, keys, given))
        // Each once, in whichever piece.
        const distinct = [...new Map(given.map((key) => [keys.valuesOf(key).join(), key])).values()]
        const found = []
        for (let at = 0; at < distinct.length; at += rowsPerTurn) {
          await passTurn()
          found.push(...(await ask(jsonOf(dialect, keys, distinct.slice(at, at + rowsPerTurn)))))
        }
        return found
      }
    },
    asOf: (table, joined) => {
      const [key] = table.columns
      const text = `SELECT newest.slot, ${table.name}."${key?.name}" IS NOT NULL AS found,
          ${selected(dialect, table)}
        FROM ${publishedSlot} AS newest
        LEFT JOIN ${joined}`
      return async (...parameters) => {
        const found = await query(text, parameters)
        const [first] = present(found[0], 'genesis commitment')
        const theirs = found.filter(([, isFound]) => Boolean(isFound))
        return { slot: Number(first), rows: theirs.map((row) => table.rowOf(row.slice(2))) }
      }
    },
  }
}

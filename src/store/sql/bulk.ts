import type { RawTx } from '../client.ts'

/**
 * Statements on many rows at once. The rows are one JSON parameter, which is 27 times as fast as a parameter for each value.
 * Each statement is written once; a dialect says how its database reads the parameter, and how it joins it.
 */

/** A bulk statement gives the number of rows changed, for the caller to check. */
export interface Bulk {
  readonly dialect: Dialect
  /** Adds rows, all of them new. */
  insert<R>(tx: RawTx, table: BulkTable<R>, rows: readonly R[]): Promise<number>
  /** Adds rows, or replaces those of the same key. */
  put<R>(tx: RawTx, table: BulkTable<R>, rows: readonly R[]): Promise<number>
  /** Adds rows, or to those of the same key the numbers of the other columns. */
  add<R>(tx: RawTx, table: BulkTable<R>, rows: readonly R[]): Promise<number>
  /** Removes the rows that have these values in all columns of the description. */
  remove<R>(tx: RawTx, table: BulkTable<R>, rows: readonly R[]): Promise<number>
  /** Changes the rows of these keys for which a condition holds. */
  update<R>(tx: RawTx, table: BulkTable<R>, rows: readonly R[], change: Change): Promise<number>
  /** Selects the rows that have these values in all columns of the description. */
  select<Row, R = never>(
    tx: RawTx,
    table: BulkTable<R>,
    rows: readonly R[],
    text?: TextOfMatched,
  ): Promise<Row[]>
  /** Runs a statement on the rows that have these values. */
  execute<R>(
    tx: RawTx,
    table: BulkTable<R>,
    rows: readonly R[],
    text: TextOfMatched,
  ): Promise<number>
}

/** The columns of a table that a statement is about, and how a value of the program becomes theirs. */
export interface BulkTable<R> {
  readonly name: string
  /** The key is the first of them, or so many of the first. */
  readonly columns: readonly BulkColumn[]
  readonly keyLength: number
  /** In the order of the columns. */
  valuesOf(row: R): JsonValue[]
}

/** A column in a database. */
export interface BulkColumn {
  readonly name: string
  readonly type: ColumnType
  /** Bytes that are read as text. */
  readonly asText?: boolean
}

/** `bytes` are hexadecimal digits in the JSON, and `amount` is text, for a JSON number ends at 2^53. */
export type ColumnType = 'bytes' | 'int' | 'long' | 'amount' | 'text' | 'boolean'

/** A value in the JSON parameter. */
export type JsonValue = string | number | boolean | null

/** What an update does; columns of the parameter are those of the table `given`. */
export interface Change {
  /** Left out: every column behind the key gets its value. */
  readonly set?: string
  readonly where: string
}

/** A statement around the one that selects the matching rows, given as its text. */
export type TextOfMatched = (matched: string) => string

/** What the databases write differently. */
export interface Dialect {
  /** The rows as the JSON parameter. */
  json(columns: readonly BulkColumn[], rows: readonly (readonly JsonValue[])[]): string
  /** The JSON parameter as a table `given` with these columns. */
  given(columns: readonly BulkColumn[]): string
  /** A parameter as the value of a column, where few rows are inserted faster one by one than from JSON. */
  readonly value?: (column: BulkColumn) => string
  /** Follows the name of a table and keeps those of its rows that are given. `list` is how a statement names a second table. */
  matching(table: Pick<BulkTable<never>, 'name' | 'columns'>, list: ',' | 'USING'): string
  /** Bytes as `0x` and their digits; null may become `0x`. */
  hex(bytes: string): string
  /** Which rows of the log are those of an address and a class, from one position to another. */
  ofAddress(rows: RowsOfAddress): string
  /** What such rows are ordered by, so that they are read along that index. */
  byPosition(direction: 'ASC' | 'DESC'): string
  /** Some of the bytes of the second parameter, from a place counted from 1. */
  slice(from: string, length: string): string
  /**
   * How many outputs a scan walks over at once, whether they fulfil a filter or not: SQLite has a statement in one turn of the event
   * loop, and to PostgreSQL each is a round trip.
   */
  readonly walkedAtOnce: number
  /** Of a log that is spread over servers: what stands in the place of its table. Left out where it is one table. */
  readonly shards?: ShardedScans
}

/** Rows of the log, by expressions; all positions where no bound is given. */
export interface RowsOfAddress {
  readonly address: string
  readonly class: string | number
  readonly from?: `${'>' | '>='} ${string}`
  readonly to?: `${'<' | '<='} ${string}`
}

/** How a log that is spread over servers is read (docs/decisions/047-citus.md). */
export interface ShardedScans {
  /** As `scanOfAddress` says. */
  ofAddress(scan: AddressScan): string
  /** `FROM …`: the rows of two classes between two positions, which are left out, in their order. */
  ofLog(scan: LogScanText): string
  /** `FROM …`: the rows at the positions that a statement selects as `seq`. */
  atPositions(seqs: string): string
  /** The one row of an address and class between two positions, both included, with an output id and whether it is spent. */
  entry(columns: EntryColumns): string
  /** How many rows an address and class had up to the published tip, which the statement names `tip`. */
  count(address: string, updateClass: string): string
}

/** Rows of an address in their order, by expressions. */
export interface AddressScan extends RowsOfAddress {
  /** By which the statement calls them. */
  readonly name?: string
  readonly direction: 'ASC' | 'DESC'
  readonly limit: string
  readonly offset?: number
  /** Whether those alone are meant that are the last of their transactions. */
  readonly isLastOfTransaction?: boolean
  /** A further condition. */
  readonly where?: string
}

/** Rows of the whole log, by expressions. */
export interface LogScanText {
  readonly classes: readonly [string, string]
  readonly after: string
  readonly before: string
  readonly direction: 'ASC' | 'DESC'
  readonly limit: string
}

/** What a row is looked for by. */
export interface EntryColumns {
  readonly address: string
  readonly class: string
  readonly first: string
  readonly last: string
  readonly outputId: string
  readonly isSpent: string
}

/** The rows as the JSON parameter of a statement. */
export function jsonOf<R>(dialect: Dialect, table: BulkTable<R>, rows: readonly R[]): string {
  return dialect.json(
    table.columns,
    rows.map((row) => table.valuesOf(row)),
  )
}

/** The bulk statements of a database. */
export function bulkOf(dialect: Dialect): Bulk {
  const { given, matching } = dialect
  const matched: TextOfTable = (table) =>
    `SELECT ${table.name}.* FROM ${table.name}${matching(table, ',')}`

  function run<R>(tx: RawTx, text: string, table: BulkTable<R>, rows: readonly R[]) {
    return tx.$executeRawUnsafe(text, jsonOf(dialect, table, rows))
  }

  return {
    dialect,
    insert(tx, table, rows) {
      const { value } = dialect
      if (value === undefined || tx.executeEach === undefined || rows.length > mostOneByOne) {
        return run(tx, insertText(dialect, table), table, rows)
      }
      const { name, columns } = table
      const text = `INSERT INTO ${name} (${namesOf(columns)}) VALUES (${columns.map(value).join(', ')})`
      return tx.executeEach(
        text,
        rows.map((row) => table.valuesOf(row)),
      )
    },
    put: (tx, table, rows) => run(tx, putText(dialect, table), table, rows),
    add(tx, table, rows) {
      const sum = (name: string) => `${table.name}."${name}" + excluded."${name}"`
      return run(tx, upsertText(dialect, table, sum), table, rows)
    },
    remove(tx, table, rows) {
      return run(tx, `DELETE FROM ${table.name}${matching(table, 'USING')}`, table, rows)
    },
    update(tx, table, rows, { set, where }) {
      const { name, columns, keyLength } = table
      const same = (column: BulkColumn) => `${name}."${column.name}" = given."${column.name}"`
      const values = columns.slice(keyLength).map((one) => `"${one.name}" = given."${one.name}"`)
      const text = `UPDATE ${name} SET ${set ?? values.join(', ')} FROM ${given(columns)}
        WHERE ${columns.slice(0, keyLength).map(same).join(' AND ')} AND ${where}`
      return run(tx, text, table, rows)
    },
    select(tx, table, rows, text = (same) => same) {
      return tx.$queryRawUnsafe(text(matched(table)), jsonOf(dialect, table, rows))
    },
    execute: (tx, table, rows, text) => run(tx, text(matched(table)), table, rows),
  }
}

/** A row by itself costs two thirds of its place in a JSON parameter among 16, and as much among 500. */
const mostOneByOne = 64

type TextOfTable = (table: BulkTable<never>) => string

/** Inserts what is given; a condition or a conflict clause may follow. */
export function insertText({ given }: Dialect, { name, columns }: BulkTable<never>): string {
  const names = namesOf(columns)
  return `INSERT INTO ${name} (${names}) SELECT ${names} FROM ${given(columns)}`
}

/** Inserts what is given, or replaces what has the same key. */
export function putText(dialect: Dialect, table: BulkTable<never>): string {
  return upsertText(dialect, table, (name) => `excluded."${name}"`)
}

/** Inserts what is given; a row whose key is there gets the value of `changed` in each column behind the key. */
function upsertText(
  dialect: Dialect,
  table: BulkTable<never>,
  changed: (name: string) => string,
): string {
  const { columns, keyLength } = table
  const changes = columns.slice(keyLength).map(({ name }) => `"${name}" = ${changed(name)}`)
  // SQLite would read the ON of a conflict as that of a join, if there were no condition before it.
  return `${insertText(dialect, table)} WHERE true
    ON CONFLICT (${namesOf(columns.slice(0, keyLength))}) DO UPDATE SET ${changes.join(', ')}`
}

/** Names of columns as a list. */
export function namesOf(columns: readonly Pick<BulkColumn, 'name'>[]): string {
  return columns.map(({ name }) => `"${name}"`).join(', ')
}

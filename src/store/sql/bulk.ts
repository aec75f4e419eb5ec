import type { RawTx } from '../client.ts'

/**
 * Statements on many rows at once. The rows are one JSON parameter, which is 27 times as fast as a parameter for each value.
 * Each statement is written once. A dialect defines how its database reads the parameter and joins it.
 */

/** Bulk statements. A statement that writes resolves to the number of rows changed, for the caller to check. */
export interface Bulk {
  readonly dialect: Dialect
  /** Inserts rows. Fails when a key exists. */
  insert<R>(tx: RawTx, table: BulkTable<R>, rows: readonly R[]): Promise<number>
  /** Inserts rows, or replaces the rows with the same keys. */
  put<R>(tx: RawTx, table: BulkTable<R>, rows: readonly R[]): Promise<number>
  /** Inserts rows. When a key exists, adds the numbers in the other columns to the stored row. */
  add<R>(tx: RawTx, table: BulkTable<R>, rows: readonly R[]): Promise<number>
  /** Deletes the rows that match the given rows in all columns of the description. */
  remove<R>(tx: RawTx, table: BulkTable<R>, rows: readonly R[]): Promise<number>
  /** Updates the rows with the given keys that fulfil the condition of the change. */
  update<R>(tx: RawTx, table: BulkTable<R>, rows: readonly R[], change: Change): Promise<number>
  /** Selects the rows that match the given rows in all columns of the description. */
  select<Row, R = never>(
    tx: RawTx,
    table: BulkTable<R>,
    rows: readonly R[],
    text?: TextOfMatched,
  ): Promise<Row[]>
  /** Runs a statement around the selection of the matching rows. */
  execute<R>(
    tx: RawTx,
    table: BulkTable<R>,
    rows: readonly R[],
    text: TextOfMatched,
  ): Promise<number>
}

/** Description of a table, or of some of its columns, with the conversion of a row to column values. */
export interface BulkTable<R> {
  readonly name: string
  readonly columns: readonly BulkColumn[]
  /** Number of leading columns that form the key. */
  readonly keyLength: number
  /** Returns the values of a row in the order of the columns. */
  valuesOf(row: R): JsonValue[]
}

export interface BulkColumn {
  readonly name: string
  readonly type: ColumnType
  /** Whether bytes are read as hexadecimal text. */
  readonly asText?: boolean
}

/** Type of a column. In the JSON parameter, `bytes` are hexadecimal digits, and `amount` is text because JSON numbers end at 2^53. */
export type ColumnType = 'bytes' | 'int' | 'long' | 'amount' | 'text' | 'boolean'

export type JsonValue = string | number | boolean | null

/** Assignments and condition of an update. Its SQL refers to the columns of the parameter by the table name `given`. */
export interface Change {
  /** Assignments. Without them, the update sets every column after the key to its given value. */
  readonly set?: string
  readonly where: string
}

/** Returns the text of a statement around the selection of the matching rows, which is its argument. */
export type TextOfMatched = (matched: string) => string

/** SQL that differs between the databases. */
export interface Dialect {
  /** Returns the JSON parameter for rows. */
  json(columns: readonly BulkColumn[], rows: readonly (readonly JsonValue[])[]): string
  /** SQL that reads the JSON parameter as a table `given` with these columns. */
  given(columns: readonly BulkColumn[]): string
  /** SQL of a parameter as the value of a column. Present if inserting a few rows one by one is faster than inserting them from JSON. */
  readonly value?: (column: BulkColumn) => string
  /** SQL that follows a table name and restricts the table to the given rows. `list` is how the statement adds a second table. */
  matching(table: Pick<BulkTable<never>, 'name' | 'columns'>, list: ',' | 'USING'): string
  /** SQL that converts bytes to `0x` and hexadecimal digits. A null may become `0x`. */
  hex(bytes: string): string
  /** SQL condition for the rows of the log of an address and class between two positions. */
  ofAddress(rows: RowsOfAddress): string
  /** SQL order of the same rows, which the index on address and class provides. */
  byPosition(direction: 'ASC' | 'DESC'): string
  /** SQL that cuts bytes out of the second parameter. `from` counts from 1. */
  slice(from: string, length: string): string
  /**
   * Outputs that one statement of a scan visits, whether or not they pass the filter. SQLite runs a statement in one turn of the event
   * loop. On PostgreSQL, each statement is a round trip.
   */
  readonly maxScannedRows: number
  /** SQL that replaces the table of the log when the log is in shards. Absent when the log is one table. */
  readonly shards?: ShardedScans
}

/** Range of the log of one address and class, as SQL expressions. A missing bound does not limit the positions. */
export interface RowsOfAddress {
  readonly address: string
  readonly class: string | number
  readonly from?: `${'>' | '>='} ${string}`
  readonly to?: `${'<' | '<='} ${string}`
}

/** SQL that reads a log in shards (docs/decisions/047-citus.md). */
export interface ShardedScans {
  /** Same as `scanOfAddress`. */
  ofAddress(scan: AddressScan): string
  /** `FROM …`: the rows of two classes between two exclusive positions, in order. */
  ofLog(scan: LogScanText): string
  /** `FROM …`: the rows at the positions that the statement `seqs` selects as `seq`. */
  atPositions(seqs: string): string
  /** `FROM …`: the one row of an address and class between two inclusive positions that has an output id and a spent flag. */
  entry(columns: EntryColumns): string
  /** Number of rows of an address and class up to the published tip, which the statement names `tip`. */
  count(address: string, updateClass: string): string
}

/** Scan of the log of one address and class, as SQL expressions. */
export interface AddressScan extends RowsOfAddress {
  /** Name of the rows in the statement. */
  readonly name?: string
  readonly direction: 'ASC' | 'DESC'
  readonly limit: string
  readonly offset?: number
  /** Whether the scan returns only the last row of each transaction. */
  readonly isLastOfTransaction?: boolean
  /** Additional condition. */
  readonly where?: string
}

/** Scan of the whole log, as SQL expressions. */
export interface LogScanText {
  readonly classes: readonly [string, string]
  readonly after: string
  readonly before: string
  readonly direction: 'ASC' | 'DESC'
  readonly limit: string
}

/** Values that identify one row of the log, as SQL expressions. */
export interface EntryColumns {
  readonly address: string
  readonly class: string
  readonly first: string
  readonly last: string
  readonly outputId: string
  readonly isSpent: string
}

/** Returns the JSON parameter of a statement on rows. */
export function jsonOf<R>(dialect: Dialect, table: BulkTable<R>, rows: readonly R[]): string {
  return dialect.json(
    table.columns,
    rows.map((row) => table.valuesOf(row)),
  )
}

/** Creates the bulk statements of a database. */
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
      if (value === undefined || tx.executeEach === undefined || rows.length > maxOneByOne) {
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

/** Rows up to which inserting one by one pays: it takes two thirds of the time of a JSON parameter at 16 rows, and the same at 500. */
const maxOneByOne = 64

type TextOfTable = (table: BulkTable<never>) => string

/** SQL that inserts the given rows. A condition or a conflict clause may follow. */
export function insertText({ given }: Dialect, { name, columns }: BulkTable<never>): string {
  const names = namesOf(columns)
  return `INSERT INTO ${name} (${names}) SELECT ${names} FROM ${given(columns)}`
}

/** SQL that inserts the given rows, or replaces the rows with the same keys. */
export function putText(dialect: Dialect, table: BulkTable<never>): string {
  return upsertText(dialect, table, (name) => `excluded."${name}"`)
}

/** SQL that inserts the given rows. When a key exists, it sets each column after the key to the expression that `changed` returns. */
function upsertText(
  dialect: Dialect,
  table: BulkTable<never>,
  changed: (name: string) => string,
): string {
  const { columns, keyLength } = table
  const changes = columns.slice(keyLength).map(({ name }) => `"${name}" = ${changed(name)}`)
  // Without a condition before it, SQLite parses ON CONFLICT as the ON of a join.
  return `${insertText(dialect, table)} WHERE true
    ON CONFLICT (${namesOf(columns.slice(0, keyLength))}) DO UPDATE SET ${changes.join(', ')}`
}

/** Quoted names of columns, separated by commas. */
export function namesOf(columns: readonly Pick<BulkColumn, 'name'>[]): string {
  return columns.map(({ name }) => `"${name}"`).join(', ')
}

import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { LRUCache } from 'lru-cache'

/** The statements of a connection, kept prepared: to prepare one costs as much as to read some rows. */

/** A statement that gives lists of columns, and what was found out about it once. */
export interface KeptStatement<Note> {
  readonly statement: StatementSync
  readonly note: Note
}

/** Statements by their text. */
export interface KeptStatements<Note> {
  get(sql: string): KeptStatement<Note>
  /** The next one of this text is prepared again. */
  drop(sql: string): void
}

/** Keeps the newest `mostKept`; `settle` is called once for each that is prepared. */
export function keepStatements<Note>(
  database: DatabaseSync,
  settle: (statement: StatementSync) => Note,
): KeptStatements<Note> {
  const kept = new LRUCache<string, KeptStatement<Note>>({ max: mostKept })

  function get(sql: string): KeptStatement<Note> {
    const known = kept.get(sql)
    if (known !== undefined) return known
    const prepared = prepare(sql)
    kept.set(sql, prepared)
    return prepared
  }

  function prepare(sql: string): KeptStatement<Note> {
    const statement = database.prepare(withPlainLimits(sql))
    statement.setReturnArrays(true)
    return { statement, note: settle(statement) }
  }

  return { get, drop: (sql) => void kept.delete(sql) }
}

/**
 * A limit that is a bare parameter makes SQLite prepare the statement anew each time that it is bound (sqlite3_bind,
 * Vdbe.expmask), for the plan might depend on its value. An expression does not, and the plan is the same.
 */
function withPlainLimits(sql: string): string {
  return sql.replaceAll(/\bLIMIT (?=\?)/g, 'LIMIT +')
}

/** All rows that a kept statement finds, each a list of columns. The types of the driver know rows as objects alone. */
export function rowsOf(
  { statement }: Pick<KeptStatement<unknown>, 'statement'>,
  parameters: readonly SQLInputValue[],
): unknown[][] {
  const rows: unknown[] = statement.all(...parameters)
  return rows as unknown[][]
}

/** Whether a statement is not to hold a parameter until it is given the next one: the JSON of a bulk statement has megabytes. */
export function isLarge(parameter: SQLInputValue): boolean {
  return typeof parameter === 'string'
    ? parameter.length > mostKeptLength
    : parameter instanceof Uint8Array && parameter.length > mostKeptLength
}

const mostKeptLength = 65_536

/** The program's own texts are fewer; a text with a list in it comes in as many forms as lists have lengths. */
export const mostKept = 200

import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { LRUCache } from 'lru-cache'

/** A cache of the prepared statements of a connection. Preparing a statement costs as much as reading some rows. */

/** A statement whose rows are lists of columns, and a note that `settle` made about it. */
export interface KeptStatement<Note> {
  readonly statement: StatementSync
  readonly note: Note
}

/** Statements by their text. */
export interface KeptStatements<Note> {
  get(sql: string): KeptStatement<Note>
  /** Evicts a statement. Its next use prepares it again. */
  drop(sql: string): void
}

/** Creates a cache of the `mostKept` newest statements. `settle` is called once per prepared statement. */
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
 * Turns limits into expressions. If a limit is a bare parameter, SQLite prepares the statement again each time the parameter is bound
 * (sqlite3_bind, Vdbe.expmask), because the plan might depend on its value. For an expression it does not, and the plan is the same.
 */
function withPlainLimits(sql: string): string {
  return sql.replaceAll(/\bLIMIT (?=\?)/g, 'LIMIT +')
}

/** Returns all rows of a statement as lists of columns. The types of the driver only describe rows as objects. */
export function rowsOf(
  { statement }: Pick<KeptStatement<unknown>, 'statement'>,
  parameters: readonly SQLInputValue[],
): unknown[][] {
  const rows: unknown[] = statement.all(...parameters)
  return rows as unknown[][]
}

/** Whether a parameter is too large to stay in memory with its statement. The JSON of a bulk statement has megabytes. */
export function isLarge(parameter: SQLInputValue): boolean {
  return typeof parameter === 'string'
    ? parameter.length > maxKeptLength
    : parameter instanceof Uint8Array && parameter.length > maxKeptLength
}

const maxKeptLength = 65_536

/** Capacity of the cache. The program has fewer texts of its own, but a text with a list has one form per list length. */
export const mostKept = 200

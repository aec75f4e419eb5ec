import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { LRUCache } from 'lru-cache'
import { getOrInsert } from '../../lib/get-or-insert.ts'

/** A cache of the prepared statements of a connection. Preparing a statement costs as much as reading some rows. */

/** A statement whose rows are lists of columns, and a note that `settle` made about it. */
export interface CachedStatement<Note> {
  readonly statement: StatementSync
  readonly note: Note
}

/** Prepared statements by SQL text. */
export interface StatementCache<Note> {
  get(sql: string): CachedStatement<Note>
  /** Evicts a statement. Its next use prepares it again. */
  drop(sql: string): void
}

/** Creates a cache of the `maxStatements` newest statements. `settle` is called once per prepared statement. */
export function createStatementCache<Note>(
  database: DatabaseSync,
  settle: (statement: StatementSync) => Note,
): StatementCache<Note> {
  const cache = new LRUCache<string, CachedStatement<Note>>({ max: maxStatements })

  function get(sql: string): CachedStatement<Note> {
    return getOrInsert(cache, sql, () => prepare(sql))
  }

  function prepare(sql: string): CachedStatement<Note> {
    const statement = database.prepare(withPlainLimits(sql))
    statement.setReturnArrays(true)
    return { statement, note: settle(statement) }
  }

  return { get, drop: (sql) => void cache.delete(sql) }
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
  { statement }: Pick<CachedStatement<unknown>, 'statement'>,
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
export const maxStatements = 200

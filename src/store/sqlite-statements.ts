import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { createBoundedMap } from '../lib/bounded-map.ts'

/** The statements of a connection, kept prepared: to prepare one costs as much as to read some rows. */

/** A statement that gives lists of columns, and what was found out about it once. */
export interface KeptStatement<Note> {
  readonly statement: StatementSync
  readonly note: Note
}

/** Statements by their text. */
export interface KeptStatements<Note> {
  get(sql: string): KeptStatement<Note>
  /** The next one of this text is prepared anew. */
  drop(sql: string): void
}

/** Keeps the newest `mostKept`; `settle` is called once for each that is prepared. */
export function keepStatements<Note>(
  database: DatabaseSync,
  settle: (statement: StatementSync) => Note,
): KeptStatements<Note> {
  const kept = createBoundedMap<string, KeptStatement<Note>>(mostKept)

  function get(sql: string): KeptStatement<Note> {
    const found = kept.get(sql) ?? prepare(sql)
    kept.set(sql, found)
    return found
  }

  function prepare(sql: string): KeptStatement<Note> {
    const statement = database.prepare(sql)
    statement.setReturnArrays(true)
    return { statement, note: settle(statement) }
  }

  return { get, drop: kept.delete }
}

/** The program's own texts are fewer; a text with a list in it comes in as many forms as lists have lengths. */
export const mostKept = 200

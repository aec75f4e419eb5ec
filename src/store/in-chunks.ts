import { passTurn } from '../lib/turns.ts'

/**
 * Does something with a list part by part, and lets the event loop turn in between, for SQLite has a statement in one turn; nothing
 * for none.
 */
export async function inChunks<T>(
  list: readonly T[],
  work: (part: readonly T[]) => Promise<unknown>,
): Promise<void> {
  for (let at = 0; at < list.length; at += rowsPerStatement) {
    if (at > 0) await passTurn()
    await work(list.slice(at, at + rowsPerStatement))
  }
}

/** The same in smaller parts, for rows that come in another order than that of their indexes. */
export async function inPieces<T>(
  list: readonly T[],
  work: (part: readonly T[]) => Promise<unknown>,
): Promise<void> {
  for (let at = 0; at < list.length; at += rowsPerPiece) {
    await passTurn()
    await work(list.slice(at, at + rowsPerPiece))
  }
}

/** Some 20 milliseconds. On PostgreSQL each statement costs a round trip, and a usual slot has few. */
const rowsPerStatement = 2_000

/** A row takes up to 10 microseconds. */
const rowsPerPiece = 500

import { passTurn } from '../lib/turns.ts'

/**
 * Calls `work` with the chunks of a list, and yields to the event loop between them, because SQLite runs a statement in one turn. An
 * empty list has no chunks.
 */
export async function inChunks<T>(
  list: readonly T[],
  work: (part: readonly T[]) => Promise<unknown>,
  size = rowsPerStatement,
): Promise<void> {
  for (let at = 0; at < list.length; at += size) {
    if (at > 0) await passTurn()
    await work(list.slice(at, at + size))
  }
}

/** Calls `work` with smaller chunks, for rows in an order that differs from the order of their indexes. */
export async function inSmallChunks<T>(
  list: readonly T[],
  work: (part: readonly T[]) => Promise<unknown>,
): Promise<void> {
  for (let at = 0; at < list.length; at += rowsPerSmallChunk) {
    await passTurn()
    await work(list.slice(at, at + rowsPerSmallChunk))
  }
}

/** Rows that take some 20 milliseconds. On PostgreSQL each statement costs a round trip, and a usual slot needs few statements. */
const rowsPerStatement = 2_000

/** Rows of a smaller chunk. Each takes up to 10 microseconds. */
const rowsPerSmallChunk = 500

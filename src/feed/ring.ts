import type { LedgerUpdate } from '../store/rows.ts'
import type { UpdateFilter } from './read.ts'
import { createRowsByKey } from './rows-by-key.ts'

/** The newest rows of the log, decoded, so that feeds at the tip or shortly behind it cost no query. */

/** The newest rows of the log, without a gap. */
export interface Ring {
  /** Rows above this position are held. */
  floor(): number
  /** The position of the newest held row, or the position at which the ring was cleared. */
  position(): number
  /** Appends the rows that follow the newest one, without a gap. */
  append(rows: readonly LedgerUpdate[]): void
  /** Removes everything; the next row appended is the one after the position. */
  clear(position: number): void
  /**
   * The first `limit` rows of a filter after a position, in log order; `undefined` if the position lies below the ring.
   * The cost is one search for each address, plus the returned rows.
   */
  read(filter: UpdateFilter, after: number, limit: number): readonly LedgerUpdate[] | undefined
  /** The row at a position, if the ring holds it. */
  at(seq: number): LedgerUpdate | undefined
}

/** Creates a ring that holds at least the newest `capacity` rows. */
export function createRing(capacity: number, position: number): Ring {
  let rows: LedgerUpdate[] = []
  let floor = position
  const byKey = createRowsByKey()

  function append(more: readonly LedgerUpdate[]): void {
    for (const row of more) {
      rows.push(row)
      byKey.add(row)
    }
    // Removes many rows at once, and seldom: removing the front of an array is expensive.
    if (rows.length > 2 * capacity) removeOldest(rows.length - capacity)
  }

  function removeOldest(count: number): void {
    byKey.removeOldest(rows.slice(0, count))
    rows = rows.slice(count)
    floor += count
  }

  function clear(at: number): void {
    rows = []
    floor = at
    byKey.clear()
  }

  function read({ addresses, classes }: UpdateFilter, after: number, limit: number) {
    if (after < floor) return undefined
    if (addresses !== undefined) return byKey.read({ addresses, classes }, after, limit)
    const found: LedgerUpdate[] = []
    // Positions are dense, so the index of a row follows from its position.
    for (let i = after - floor; i < rows.length && found.length < limit; i++) {
      const row = rows[i] as LedgerUpdate
      if (classes.includes(row.class)) found.push(row)
    }
    return found
  }

  const at = (seq: number) => rows[seq - floor - 1]

  return { floor: () => floor, position: () => floor + rows.length, append, clear, read, at }
}

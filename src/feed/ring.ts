import type { LedgerUpdate } from '../store/rows.ts'
import type { UpdateFilter } from './read.ts'

/** The newest rows of the log, decoded, so that feeds at the tip or shortly behind it cost no query. */

/** The end of the log up to its newest known row. */
export interface Ring {
  /** Rows above this position are held. */
  floor(): number
  /** The newest row held, or the position that the ring was cleared at. */
  position(): number
  /** Appends the rows that follow the newest one, without a gap. */
  append(rows: readonly LedgerUpdate[]): void
  /** Removes everything; the next row appended is the one after the position. */
  clear(position: number): void
  /**
   * The first `limit` rows of a filter after a position, in log order; `undefined` where the ring does not reach back
   * so far. Costs as much as it returns, and a search for each address.
   */
  read(filter: UpdateFilter, after: number, limit: number): readonly LedgerUpdate[] | undefined
  /** The row at a position, where it is held. */
  at(seq: number): LedgerUpdate | undefined
}

/** Creates a ring that holds at least the newest `capacity` rows. */
export function createRing(capacity: number, position: number): Ring {
  let rows: LedgerUpdate[] = []
  let floor = position
  const rowsByKey = new Map<string, LedgerUpdate[]>()

  function append(more: readonly LedgerUpdate[]): void {
    for (const row of more) {
      rows.push(row)
      const key = filterKey(row.class, row.address)
      const own = rowsByKey.get(key)
      if (own === undefined) rowsByKey.set(key, [row])
      else own.push(row)
    }
    // Seldom and many at once, because cutting the front of an array is expensive.
    if (rows.length > 2 * capacity) removeOldest(rows.length - capacity)
  }

  function removeOldest(count: number): void {
    const counts = new Map<string, number>()
    for (const row of rows.slice(0, count)) {
      const key = filterKey(row.class, row.address)
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
    for (const [key, removed] of counts) {
      const own = rowsByKey.get(key) ?? []
      if (own.length === removed) rowsByKey.delete(key)
      else own.splice(0, removed)
    }
    rows = rows.slice(count)
    floor += count
  }

  function clear(at: number): void {
    rows = []
    floor = at
    rowsByKey.clear()
  }

  function read({ addresses, classes }: UpdateFilter, after: number, limit: number) {
    if (after < floor) return undefined
    if (addresses === undefined) return readAll(classes, after, limit)
    const found: LedgerUpdate[] = []
    for (const address of addresses) {
      for (const updateClass of classes) {
        const own = rowsByKey.get(filterKey(updateClass, address))
        if (own === undefined) continue
        const from = firstAfter(own, after)
        for (let i = from; i < own.length && i < from + limit; i++)
          found.push(own[i] as LedgerUpdate)
      }
    }
    if (addresses.length * classes.length > 1) found.sort((a, b) => a.seq - b.seq)
    return found.length > limit ? found.slice(0, limit) : found
  }

  function readAll(classes: UpdateFilter['classes'], after: number, limit: number) {
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

/** The key of the rows of one address and class. */
export function filterKey(updateClass: LedgerUpdate['class'], address: string): string {
  return updateClass + address
}

/** The index of the first row after a position; mostly at the end, so the search begins there. */
function firstAfter(rows: readonly LedgerUpdate[], after: number): number {
  let step = 1
  let high = rows.length
  let low = high - step
  while (low >= 0 && (rows[low] as LedgerUpdate).seq > after) {
    high = low
    step *= 2
    low = high - step
  }
  low = Math.max(low, -1)
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if ((rows[middle] as LedgerUpdate).seq > after) high = middle
    else low = middle
  }
  return high
}

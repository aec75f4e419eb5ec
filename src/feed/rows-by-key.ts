import type { LedgerUpdate } from '../store/rows.ts'
import type { UpdateFilter } from './read.ts'

/** Rows of the log by class and address, each list in log order. */
export interface RowsByKey {
  /** Adds a row that is newer than all others. */
  add(row: LedgerUpdate): void
  /** Removes the given rows, which must be the oldest ones. */
  removeOldest(rows: readonly LedgerUpdate[]): void
  /** The first `limit` rows of some addresses after a position. The cost is one search for each address, plus the returned rows. */
  read(filter: Required<UpdateFilter>, after: number, limit: number): readonly LedgerUpdate[]
  clear(): void
}

export function createRowsByKey(): RowsByKey {
  const rowsByKey = new Map<string, LedgerUpdate[]>()

  function add(row: LedgerUpdate): void {
    const key = filterKey(row.class, row.address)
    const own = rowsByKey.get(key)
    if (own === undefined) rowsByKey.set(key, [row])
    else own.push(row)
  }

  function removeOldest(rows: readonly LedgerUpdate[]): void {
    const counts = new Map<string, number>()
    for (const row of rows) {
      const key = filterKey(row.class, row.address)
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
    for (const [key, removed] of counts) {
      const own = rowsByKey.get(key) ?? []
      if (own.length === removed) rowsByKey.delete(key)
      else own.splice(0, removed)
    }
  }

  function read({ addresses, classes }: Required<UpdateFilter>, after: number, limit: number) {
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

  return { add, removeOldest, read, clear: () => rowsByKey.clear() }
}

export function filterKey(updateClass: LedgerUpdate['class'], address: string): string {
  return updateClass + address
}

/** The index of the first row after a position. The search begins at the end, where the row usually is. */
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

import type { LedgerUpdate } from '../store/rows.ts'
import type { UpdateFilter } from './read.ts'
import { filterKey } from './rows-by-key.ts'

/** Watchers of new rows, indexed by address, so that a new row notifies only the watchers whose filter it may match. */

export interface Watchers {
  /** Calls `notify` once per batch of rows in which the filter may have some. The returned function ends the watch. */
  watch(filter: UpdateFilter, notify: () => void): () => void
  /** Notifies the watchers whose filters may match one of the rows. */
  notifyFor(rows: readonly LedgerUpdate[]): void
  notifyAll(): void
  count(): number
}

type Watcher = () => void

export function createWatchers(): Watchers {
  const byKey = new Map<string, Set<Watcher>>()
  /** Watchers without addresses. Rows of other classes notify them too; their next read then returns no rows. */
  const wholeLedger = new Set<Watcher>()

  let watching = 0

  function watch({ addresses, classes }: UpdateFilter, notify: Watcher): () => void {
    // A new function for each watch: a caller may pass the same `notify` twice, and each watch ends separately.
    const watcher = () => notify()
    watching++
    if (addresses === undefined) {
      wholeLedger.add(watcher)
      return () => {
        if (wholeLedger.delete(watcher)) watching--
      }
    }
    let isOver = false
    const keys = addresses.flatMap((address) => classes.map((one) => filterKey(one, address)))
    for (const key of keys) {
      const watchers = byKey.get(key)
      if (watchers === undefined) byKey.set(key, new Set([watcher]))
      else watchers.add(watcher)
    }
    return () => {
      if (isOver) return
      isOver = true
      watching--
      for (const key of keys) {
        const watchers = byKey.get(key)
        watchers?.delete(watcher)
        if (watchers?.size === 0) byKey.delete(key)
      }
    }
  }

  function notifyFor(rows: readonly LedgerUpdate[]): void {
    if (rows.length === 0) return
    const concerned = new Set(wholeLedger)
    for (const row of rows) {
      const watchers = byKey.get(filterKey(row.class, row.address)) ?? []
      for (const watcher of watchers) concerned.add(watcher)
    }
    for (const watcher of concerned) watcher()
  }

  function notifyAll(): void {
    const all = new Set(wholeLedger)
    for (const watchers of byKey.values()) for (const watcher of watchers) all.add(watcher)
    for (const watcher of all) watcher()
  }

  return { watch, notifyFor, notifyAll, count: () => watching }
}

import type { LedgerUpdate } from '../store/rows.ts'
import type { UpdateFilter } from './read.ts'
import { filterKey } from './ring.ts'

/** Who is to be told of a new row: found by address, so that a row costs only those whom it concerns. */

/** The watchers of one process. */
export interface Watchers {
  /** Calls `rouse` whenever rows of the filter may have come, once for any number of them; the answer ends it. */
  watch(filter: UpdateFilter, rouse: () => void): () => void
  /** Rouses everybody whom some of the rows concern. */
  notifyFor(rows: readonly LedgerUpdate[]): void
  /** Rouses everybody. */
  notifyAll(): void
  /** How many watch. */
  count(): number
}

type Watcher = () => void

/** Nobody yet. */
export function createWatchers(): Watchers {
  const byKey = new Map<string, Set<Watcher>>()
  /** Those without addresses. They are roused by rows of other classes too, and find nothing. */
  const wholeLedger = new Set<Watcher>()

  let watching = 0

  function watch({ addresses, classes }: UpdateFilter, rouse: Watcher): () => void {
    // A function of its own, for one `rouse` may be given twice and each watch ends by itself.
    const watcher = () => rouse()
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

  function rouseFor(rows: readonly LedgerUpdate[]): void {
    if (rows.length === 0) return
    const concerned = new Set(wholeLedger)
    for (const row of rows) {
      const watchers = byKey.get(filterKey(row.class, row.address)) ?? []
      for (const watcher of watchers) concerned.add(watcher)
    }
    for (const watcher of concerned) watcher()
  }

  function rouseAll(): void {
    const everybody = new Set(wholeLedger)
    for (const watchers of byKey.values()) for (const watcher of watchers) everybody.add(watcher)
    for (const watcher of everybody) watcher()
  }

  return { watch, notifyFor: rouseFor, notifyAll: rouseAll, count: () => watching }
}

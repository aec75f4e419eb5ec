import { setTimeout as delay } from 'node:timers/promises'
import { createSignal } from '../lib/signal.ts'
import { passTurn } from '../lib/turns.ts'
import { rowsPerTurn } from '../store/contract/list.ts'

/** Watches the states of blocks or transactions. One read finds the changes for all subscribers. */

export interface StateWatch<Id> {
  /** Calls `notify` when the object is known or has another state than at the last read. The returned function ends the watch. */
  watch(id: Id, notify: () => void): () => void
  /** Reads the states again, because some may have changed. */
  changed(): void
}

export interface StateWatchDeps<Id> {
  /** Reads the states of objects, as texts. Unknown objects are left out. */
  read(ids: readonly Id[]): Promise<ReadonlyMap<Id, string>>
  /** Interval of the reads that find changes by other processes, in milliseconds. */
  readonly tickMs: number
}

interface Watched {
  /** The state at the last read; `undefined` before the first read, and for an unknown object. */
  state: string | undefined
  readonly notifies: Set<() => void>
}

export function createStateWatch<Id>({ read, tickMs }: StateWatchDeps<Id>): StateWatch<Id> {
  const watchedById = new Map<Id, Watched>()
  const change = createSignal()
  let isRunning = false

  async function run(): Promise<void> {
    isRunning = true
    while (watchedById.size > 0) {
      await change.wait({ ms: tickMs })
      await readAll()
      // Writes follow each other closely on a busy ledger.
      await delay(pauseMs)
    }
    isRunning = false
  }

  async function readAll(): Promise<void> {
    const ids = [...watchedById.keys()]
    for (let from = 0; from < ids.length; from += rowsPerTurn) {
      const some = ids.slice(from, from + rowsPerTurn)
      // Each subscriber reads by itself then, and handles the failure.
      const states = await read(some).catch(() => undefined)
      for (const id of some) {
        const watched = watchedById.get(id)
        const state = states?.get(id)
        if (watched === undefined || (states !== undefined && state === watched.state)) continue
        watched.state = state
        for (const notify of watched.notifies) notify()
      }
      await passTurn()
    }
  }

  function watch(id: Id, notify: () => void): () => void {
    const watched = watchedById.get(id) ?? { state: undefined, notifies: new Set() }
    watchedById.set(id, watched)
    watched.notifies.add(notify)
    if (!isRunning) void run()
    return () => {
      watched.notifies.delete(notify)
      if (watched.notifies.size > 0) return
      if (watchedById.get(id) === watched) watchedById.delete(id)
      if (watchedById.size === 0) change.notify()
    }
  }

  return { watch, changed: change.notify }
}

/** Milliseconds between two reads. */
const pauseMs = 100

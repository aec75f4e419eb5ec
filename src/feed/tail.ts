import type { Hex } from '../lib/hex.ts'
import { createListeners } from '../lib/listeners.ts'
import type { Log } from '../lib/log.ts'
import type { StoreReader } from '../store/contract.ts'
import { createFailureLog } from '../store/failure-log.ts'
import { createBranches } from './branches.ts'
import type { ExpirationTransfer, ExpirationTransfers } from './expiration-transfers.ts'
import { createHistoryReads, type PageRead, type TailQuery } from './history-reads.ts'
import { openLogWindow, type TailTip, type WindowChange } from './log-window.ts'
import { createPages } from './pages.ts'
import type { LogReader, UpdateFilter } from './read.ts'
import { followTip } from './tip-follower.ts'
import type { Wake } from './wake.ts'
import { createWatchers } from './watchers.ts'

/** The live end of the log: one reader per process follows it, keeps the newest rows, and notifies their watchers. */

export interface TailDeps {
  readonly reader: LogReader & Pick<StoreReader, 'forget'>
  readonly wake: Pick<Wake, 'wait' | 'newest'>
  readonly expirationTransfers: ExpirationTransfers
  /** The longest delay after a lost wake-up, in milliseconds. */
  readonly tickMs: number
  readonly log: Pick<Log, 'warn' | 'error'>
  /** The least number of newest rows that are kept in memory. */
  readonly ringRows: number
  /** The most rows of older pages that are kept in memory. */
  readonly pageRows: number
}

/** The followed log. */
export interface Tail {
  /** The tip at the last read. */
  tip(): TailTip
  /** The tip after another read, unless the last one is recent, no wake-up came since, and it reaches `seq`. */
  freshTip(seq?: number): Promise<TailTip>
  /** The branch that the history of the tip has at a position; at most one read, and none for recent positions. */
  branchAt(seq: number): Promise<Hex>
  /**
   * The next rows of a filter up to the tip, at most `limit`, and the position that they reach, from the ring; `undefined`
   * when they must be read.
   */
  peek(query: TailQuery): PageRead | undefined
  /**
   * The same from the database, in a read that equal requests share; `'PRUNED'` when the rows are no longer there,
   * `'REPLACED'` when the history of the tip is no longer there.
   */
  read(query: TailQuery): Promise<PageRead | 'PRUNED' | 'REPLACED'>
  /** Calls `notify` when there may be new rows of the filter; the returned function ends it. */
  watch(filter: UpdateFilter, notify: () => void): () => void
  /** Calls `notify` whenever the tip has moved, with or without rows; the returned function ends it. */
  watchTip(notify: () => void): () => void
  /** Calls `notify` when outputs have passed to another owner by time alone; the returned function ends it. */
  watchExpirationTransfers(notify: (transfers: readonly ExpirationTransfer[]) => void): () => void
  /** Counts of what was done, for measurements. */
  counts(): TailCounts
  close(): Promise<void>
}

/** What a tail has done since it was opened, and its watchers. */
export interface TailCounts {
  /** Reads of the tip. */
  readonly looks: number
  /** Reads of rows, at the end and below the ring. */
  readonly reads: number
  /** Watchers of rows at the moment. */
  readonly watchers: number
  /** Pages for feeds that the ring answered, and those that lay below it. */
  readonly inRing: number
  readonly belowRing: number
}

/** Reads the newest rows of an initialized log, and begins to follow it. */
export async function openTail(deps: TailDeps): Promise<Tail> {
  const { log } = deps
  const { reader, reads } = countReads(deps.reader)
  const watchers = createWatchers()
  const tipMoved = createListeners<void>()
  const transferred = createListeners<readonly ExpirationTransfer[]>()
  const window = await openLogWindow({ ...deps, reader, onChange })
  const follower = followTip({ ...deps, window, logFailure: createFailureLog(log) })
  const branches = createBranches({ reader, window, follower })
  const pages = createPages(reader, deps.pageRows)
  const history = createHistoryReads({ reader, window, follower, branches, pages })

  function onChange({ former, tip, isReplaced, rows, transfers }: WindowChange): void {
    if (isReplaced) {
      // What is kept in memory of a history that the database no longer has.
      branches.clear()
      pages.clear()
      deps.reader.forget()
      log.warn('log-replaced', { logId: tip.logId, slot: tip.slot, formerSlot: former.slot })
    }
    if (rows === undefined) watchers.notifyAll()
    else watchers.notifyFor(rows)
    if (isReplaced || tip.slot !== former.slot) tipMoved.notify()
    if (transfers.length > 0) transferred.notify(transfers)
  }

  return {
    tip: window.tip,
    freshTip: follower.freshTip,
    branchAt: branches.at,
    peek: history.peek,
    read: history.read,
    watch: watchers.watch,
    watchTip: tipMoved.add,
    watchExpirationTransfers: transferred.add,
    counts: () => ({
      looks: window.advances(),
      reads: reads(),
      watchers: watchers.count(),
      ...history.peeks(),
    }),
    close: follower.close,
  }
}

/** The same reader with a count of its reads of rows. */
function countReads<R extends Pick<LogReader, 'updates'>>(reader: R) {
  let reads = 0
  const updates: LogReader['updates'] = (range) => {
    reads++
    return reader.updates(range)
  }
  return { reader: { ...reader, updates }, reads: () => reads }
}

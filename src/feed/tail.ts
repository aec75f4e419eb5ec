import type { Hex } from '../lib/hex.ts'
import { createListeners } from '../lib/listeners.ts'
import type { Log } from '../lib/log.ts'
import type { StoreReader } from '../store/contract.ts'
import { createFailureLog } from '../store/failure-log.ts'
import { createBranches } from './branches.ts'
import type { ExpirationTransfer, ExpirationTransfers } from './expiration-transfers.ts'
import { createHistoryReads, type HistoryReads } from './history-reads.ts'
import { openLogWindow, type TailTip, type WindowChange } from './log-window.ts'
import { createPages } from './pages.ts'
import type { LogReader } from './read.ts'
import { followTip, type TipFollower } from './tip-follower.ts'
import type { Wake } from './wake.ts'
import { createWatchers, type Watchers } from './watchers.ts'

/** The live end of the log: one reader per process follows it, holds the newest rows, and notifies the watchers. */

export interface TailDeps {
  readonly reader: LogReader & Pick<StoreReader, 'forget'>
  readonly wake: Pick<Wake, 'wait' | 'newest'>
  readonly expirationTransfers: ExpirationTransfers
  /** Maximum delay after a lost wake-up, in milliseconds. */
  readonly tickMs: number
  readonly log: Pick<Log, 'warn' | 'error'>
  /** Minimum number of newest rows that are held in memory, and maximum number of rows in the cache of older pages. */
  readonly ringRows: number
}

/** The followed log. */
export interface Tail
  extends Pick<HistoryReads, 'peek' | 'read' | 'slotUpTo'>,
    Pick<TipFollower, 'freshTip'>,
    Pick<Watchers, 'watch'> {
  /** The tip at the last read. */
  tip(): TailTip
  /** The branch of the current history at a position. Recent positions need no read, other positions at most one. */
  branchAt(seq: number): Promise<Hex>
  /** Calls `notify` when the tip has moved, with or without new rows. The returned function ends the watch. */
  watchTip(notify: () => void): () => void
  /** Calls `notify` when outputs have changed their owner by expiration. The returned function ends the watch. */
  watchExpirationTransfers(notify: (transfers: readonly ExpirationTransfer[]) => void): () => void
  /** Counters of reads and watchers, for metrics. */
  counts(): TailCounts
  close(): Promise<void>
}

/** Counters of a tail since it was opened, and its present number of watchers. */
export interface TailCounts {
  /** Number of reads of the tip. */
  readonly tipReads: number
  /** Number of reads of rows, at the tip and below the ring. */
  readonly rowReads: number
  /** Present number of watchers of rows. */
  readonly watchers: number
  /** Numbers of feed pages that the ring answered, and of pages below the ring. */
  readonly inRing: number
  readonly belowRing: number
}

/** Reads the newest rows of an initialized log and starts to follow it. */
export async function openTail(deps: TailDeps): Promise<Tail> {
  const { log } = deps
  const { reader, reads } = countReads(deps.reader)
  const watchers = createWatchers()
  const tipMoved = createListeners<void>()
  const transferred = createListeners<readonly ExpirationTransfer[]>()
  const window = await openLogWindow({ ...deps, reader, onChange })
  const follower = followTip({ ...deps, window, logFailure: createFailureLog(log) })
  const branches = createBranches({ reader, window, follower })
  const pages = createPages(reader, deps.ringRows)
  const history = createHistoryReads({ reader, window, follower, branches, pages })

  function onChange({ former, tip, isReplaced, rows, transfers }: WindowChange): void {
    if (isReplaced) {
      // These caches hold a history that the database no longer has.
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
    slotUpTo: history.slotUpTo,
    watch: watchers.watch,
    watchTip: tipMoved.add,
    watchExpirationTransfers: transferred.add,
    counts: () => ({
      tipReads: window.advances(),
      rowReads: reads(),
      watchers: watchers.count(),
      ...history.peeks(),
    }),
    close: follower.close,
  }
}

/** Wraps a reader to count its reads of rows. */
function countReads<R extends Pick<LogReader, 'updates'>>(reader: R) {
  let reads = 0
  const updates: LogReader['updates'] = (range) => {
    reads++
    return reader.updates(range)
  }
  return { reader: { ...reader, updates }, reads: () => reads }
}

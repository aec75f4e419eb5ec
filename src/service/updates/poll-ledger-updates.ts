import { setImmediate } from 'node:timers/promises'
import { cursorExpired, encodeCursor } from '../../feed/cursor.ts'
import type { UpdateFilter } from '../../feed/read.ts'
import type { Tail } from '../../feed/tail.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { createSignal } from '../../lib/signal.ts'
import type { LedgerUpdate, LogPosition } from '../../store/rows.ts'
import {
  type FeedSelection,
  type FeedServices,
  type FollowLedgerUpdatesError,
  startFeed,
} from '../feed/follow-ledger-updates.ts'
import { type LedgerUpdateView, viewOf } from './list-ledger-updates.ts'

/** The feed by long polling: a page after a position; if the page is empty, a wait for the first update. */

/** The filter, the start and the limits of a poll. */
export interface PollRequest extends Omit<FeedSelection, 'snapshot'> {
  /** Maximum number of updates, at least 1. */
  readonly limit: number
  /** Milliseconds to wait for the first update if there is none. */
  readonly waitMs: number
  /** Milliseconds after which the page is returned as it is, although the log has more rows to search. */
  readonly searchMs: number
  /** Ends the search and the wait. */
  readonly signal: AbortSignal
}

/** A page of the feed. */
export interface PolledUpdates {
  readonly updates: readonly LedgerUpdateView[]
  /** Cursor after which the page begins. */
  readonly previousCursor: string
  /** Cursor after which the next page begins. */
  readonly cursor: string
  /** Whether the page has as many updates as the limit; such a page never changes. */
  readonly isFull: boolean
}

/** Reads the next page. */
export async function pollLedgerUpdates(
  deps: FeedServices,
  { limit, waitMs, searchMs, signal, ...selection }: PollRequest,
): Promise<Result<PolledUpdates, FollowLedgerUpdatesError>> {
  const now = performance.now()
  const search = { limit, until: now + searchMs, signal }
  const begun = await startFeed(deps, selection)
  if (!begun.ok) return begun
  const { tail } = deps.feed
  const { logId, era, filter, position } = begun.value
  const ofAnotherLog = err({ code: 'CURSOR_OF_ANOTHER_LOG', argument: 'after' } as const)
  if (tail.tip().era !== era) return ofAnotherLog
  const changed = createSignal()
  const stopWatching = tail.watch(filter, changed.notify)
  try {
    let page = await collect(tail, { filter, after: position, ...search })
    // A watch of the whole ledger is also notified of rows of other classes.
    while (typeof page !== 'string' && page.rows.length === 0) {
      const ms = Math.max(now + waitMs - performance.now(), 0)
      if (!(await changed.wait({ ms, signal }))) break
      page = await collect(tail, { filter, after: page.position, ...search })
    }
    // The log may have been replaced during the wait.
    if (page === 'REPLACED' || tail.tip().era !== era) {
      return ofAnotherLog
    }
    if (page === 'PRUNED') return err(cursorExpired('after', tail.tip()))
    return ok({
      updates: page.rows.map((row) => viewOf(row, { logId }, deps.parameters)),
      previousCursor: encodeCursor({ logId, ...position }),
      cursor: encodeCursor({ logId, ...page.position }),
      isFull: page.rows.length === limit,
    })
  } finally {
    stopWatching()
  }
}

interface Search extends Pick<PollRequest, 'limit' | 'signal'> {
  readonly filter: UpdateFilter
  readonly after: LogPosition
  /** Time of the monotonic clock at which the search ends. */
  readonly until: number
}

/** Collects rows up to the limit, because a single read may return fewer. Rows of one class may be rare in the whole ledger. */
async function collect(
  tail: Tail,
  { filter, after, limit, until, signal }: Search,
): ReturnType<Tail['read']> {
  const rows: LedgerUpdate[] = []
  let position = after
  while (rows.length < limit && position.seq < tail.tip().seq) {
    // The last iteration may have run without I/O: yield to other work of the process.
    if (position !== after) await setImmediate()
    if (position !== after && (signal.aborted || performance.now() >= until)) break
    const query = { filter, after: position.seq, limit: limit - rows.length }
    const page = tail.peek(query) ?? (await tail.read(query))
    if (typeof page === 'string') return page
    rows.push(...page.rows)
    position = page.position
  }
  return { rows, position }
}

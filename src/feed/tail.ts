import { LRUCache } from 'lru-cache'
import { present } from '../lib/assert.ts'
import type { Hex } from '../lib/hex.ts'
import type { Log } from '../lib/log.ts'
import type { StoreReader } from '../store/contract.ts'
import { isStoreFault } from '../store/faults.ts'
import type { LedgerUpdate, LogPosition, LogTip } from '../store/rows.ts'
import type { ExpirationTransfer, ExpirationTransfers } from './expiration-transfers.ts'
import { createPages } from './pages.ts'
import type { LogReader, UpdateFilter } from './read.ts'
import { createRing } from './ring.ts'
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

/** The tip of the log, and the history that it belongs to. */
export interface TailTip extends LogTip {
  /**
   * Counts the histories that were followed: it rises when the log was replaced by another one, or by an older copy of
   * itself that went on in another way. Positions of two eras cannot be compared.
   */
  readonly era: number
}

/** The followed log. */
export interface Tail {
  /** The tip at the last look. */
  tip(): TailTip
  /** The tip after another look, unless the last one is recent, no wake-up came since, and it reaches `seq`. */
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

/** The rows of a page, and the position up to which there are no others. */
export interface PageRead {
  readonly rows: readonly LedgerUpdate[]
  readonly position: LogPosition
}

export interface TailQuery {
  readonly filter: UpdateFilter
  readonly after: number
  readonly limit: number
}

/** What a tail has done since it was opened, and its watchers. */
export interface TailCounts {
  /** Reads of the tip. */
  readonly looks: number
  /** Reads of rows, at the end and below the ring. */
  readonly reads: number
  /** Watchers of rows at the moment. */
  readonly watchers: number
}

/** Reads the newest rows of an initialized log, and begins to follow it. */
export async function openTail(deps: TailDeps): Promise<Tail> {
  const { reader, wake, tickMs, log } = deps
  const counted = { looks: 0, reads: 0 }
  const counting: Pick<LogReader, 'updates'> = {
    updates: (range) => {
      counted.reads++
      return reader.updates(range)
    },
  }
  const ringFloor = ({ prunedSeq, seq }: LogTip) => Math.max(prunedSeq, seq - deps.ringRows)
  let tip: TailTip = { ...(await reader.logTip()), era: 0 }
  let lookedAt = performance.now()
  let looking: Promise<void> | undefined
  const closing = new AbortController()
  const ring = createRing(deps.ringRows, ringFloor(tip))
  const pages = createPages(counting, deps.pageRows)
  const watchers = createWatchers()
  const tipWatchers = new Set<() => void>()
  const transferWatchers = new Set<(transfers: readonly ExpirationTransfer[]) => void>()
  const branches = new LRUCache<number, Hex>({ max: keptBranches })
  ring.append(await readRows(counting, ring.position(), tip.seq))
  const following = follow()

  function look(): Promise<void> {
    looking ??= lookOnce().finally(() => {
      looking = undefined
    })
    return looking
  }

  async function lookOnce(): Promise<void> {
    counted.looks++
    const next = await reader.logTip()
    const known = ring.position()
    const isOther = !(await continues(next))
    const isFar = next.seq - known > deps.ringRows
    const from = isOther || isFar ? ringFloor(next) : known
    const rows = await readRows(counting, from, next.seq)
    // The database was replaced during the read: the rows belong to neither history, and the next tick looks again.
    if ((rows.at(-1)?.branch ?? next.branch) !== next.branch) return
    if (isOther) deps.expirationTransfers.clear()
    const transfers = await deps.expirationTransfers.between(isOther ? next : tip, next, rows)
    // No `await` from here on: the ring must not be seen ahead of the tip.
    if (isOther) {
      forget()
      log.warn('log-replaced', { epoch: next.logId, slot: next.slot, formerSlot: tip.slot })
    }
    if (from !== known || isOther) ring.clear(from)
    if (rows.length === next.seq - from) ring.append(rows)
    // Some rows were pruned meanwhile, and a ring has no gaps.
    else ring.clear(next.seq)
    const hasMoved = isOther || next.slot !== tip.slot
    tip = { ...next, era: isOther ? tip.era + 1 : tip.era }
    lookedAt = performance.now()
    if (isOther || isFar) watchers.notifyAll()
    else watchers.notifyFor(rows)
    if (hasMoved) for (const notify of [...tipWatchers]) notify()
    if (transfers.length > 0) for (const notify of [...transferWatchers]) notify(transfers)
  }

  /** Whether the log has only grown: then it still contains the newest known commitment. */
  async function continues(next: LogTip): Promise<boolean> {
    if (next.logId !== tip.logId || next.slot < tip.slot) return false
    const same = next.slot === tip.slot ? next : await reader.milestone(tip.slot)
    return same?.commitmentId === tip.commitmentId
  }

  /** Removes what is kept in memory of a history that the database no longer has. */
  function forget(): void {
    branches.clear()
    pages.clear()
    reader.forget()
  }

  async function follow(): Promise<void> {
    let notifiedSeq = tip.seq
    while (!closing.signal.aborted) {
      notifiedSeq = await wake.wait({ beyond: notifiedSeq, signal: closing.signal, tickMs })
      if (closing.signal.aborted) return
      try {
        await look()
      } catch (failure) {
        // The next tick looks again.
        if (!isStoreFault(failure)) log.error('feed-look-failed', { error: failure })
      }
      // On a lagging replica a wake-up may name a position that cannot be read yet: then wait, do not spin.
      notifiedSeq = Math.max(notifiedSeq, tip.seq)
    }
  }

  /** A look that began after the call. */
  async function lookAnew(): Promise<void> {
    const running = looking
    await look()
    if (running !== undefined) await look()
  }

  async function freshTip(seq = 0): Promise<TailTip> {
    if (Math.max(wake.newest(), seq) > tip.seq || performance.now() - lookedAt > tickMs) {
      const running = looking
      await look()
      // The look under way may have begun before the commit.
      if (running !== undefined && wake.newest() > tip.seq) await look()
    }
    return tip
  }

  async function branchAt(seq: number): Promise<Hex> {
    if (seq === tip.seq) return tip.branch
    const known = ring.at(seq)?.branch ?? branches.get(seq)
    if (known !== undefined) return known
    const { era, seq: end, branch: endBranch } = tip
    const [branch, itsEnd] = await reader.branchesAt([seq, end])
    if (itsEnd === endBranch && era === tip.era) {
      const found = present(branch, 'a branch')
      // A position beyond the end of the log gets its branch later.
      if (seq < end) branches.set(seq, found)
      return found
    }
    // The answer belongs to another history, which the next look finds.
    await lookAnew()
    return await branchAt(seq)
  }

  function peek({ filter, after, limit }: TailQuery): PageRead | undefined {
    const rows = ring.read(filter, after, limit)
    if (rows === undefined) return undefined
    const last = rows.length === limit ? rows.at(-1) : undefined
    return { rows, position: positionOf(last ?? tip) }
  }

  async function read({
    filter,
    after,
    limit,
  }: TailQuery): Promise<PageRead | 'PRUNED' | 'REPLACED'> {
    const from = tip
    const { rows, end } = await pages.read({ ...filter, after, upTo: from.seq, limit })
    const last = rows.at(-1)
    const branch = last?.seq === end ? last.branch : await branchAt(end)
    // Read after the rows. If the history of the tip is still there, it was there when they were read; and rows are pruned
    // in the transaction that records it.
    const now = await reader.logTip()
    const isThere =
      from.era === tip.era &&
      now.logId === from.logId &&
      (await branchNow(now, from.seq)) === from.branch
    if (isThere && after >= now.prunedSeq) return { rows, position: { seq: end, branch } }
    // The reset of the feed names the present bounds of the log.
    await lookAnew()
    return isThere ? 'PRUNED' : 'REPLACED'
  }

  /** The branch at a position in the database as it is now, whatever its history. */
  async function branchNow(now: LogTip, seq: number): Promise<Hex | undefined> {
    if (now.seq === seq) return now.branch
    const [branch] = await reader.branchesAt([seq])
    return branch
  }

  return {
    tip: () => tip,
    freshTip,
    branchAt,
    peek,
    read,
    watch: watchers.watch,
    watchTip: (notify) => {
      tipWatchers.add(notify)
      return () => tipWatchers.delete(notify)
    },
    watchExpirationTransfers: (notify) => {
      transferWatchers.add(notify)
      return () => transferWatchers.delete(notify)
    },
    counts: () => ({ ...counted, watchers: watchers.count() }),
    close: async () => {
      closing.abort()
      await following
    },
  }
}

/** The rows after a position up to another; fewer where some were pruned. */
async function readRows(
  reader: Pick<LogReader, 'updates'>,
  after: number,
  upTo: number,
): Promise<readonly LedgerUpdate[]> {
  const rows: LedgerUpdate[] = []
  const { classes } = everything
  const limit = rowsPerRead
  for (let at = after; at < upTo; at += limit) {
    const before = Math.min(upTo, at + limit) + 1
    const range = { classes, after: at, before, limit, order: 'ascending' } as const
    for (const row of await reader.updates(range)) rows.push(row)
  }
  return rows
}

const rowsPerRead = 1_000

/** Branches of positions below the ring, some 100 bytes each. */
const keptBranches = 10_000

function positionOf({ seq, branch }: LogPosition): LogPosition {
  return { seq, branch }
}

const everything: UpdateFilter = { classes: ['OWNED', 'MENTIONED'] }

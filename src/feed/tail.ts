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

/** The live end of the log: one reader per process follows it, keeps the newest rows, and rouses those they concern. */

/** What following the log needs. */
export interface TailDeps {
  readonly reader: LogReader & Pick<StoreReader, 'forget'>
  readonly wake: Pick<Wake, 'wait' | 'newest'>
  readonly expirationTransfers: ExpirationTransfers
  /** How long a lost wake-up may cost, in milliseconds. */
  readonly tickMs: number
  readonly log: Pick<Log, 'warn' | 'error'>
  /** The least number of newest rows that are kept in memory. */
  readonly ringRows: number
  /** The most rows of older pages that are kept in memory. */
  readonly pageRows: number
}

/** How far the log reaches, and in which history. */
export interface TailTip extends LogTip {
  /**
   * Counts the histories that were followed: it rises when another log was found in the place of the former one, or the
   * same log after it went on from an older copy. Positions of two eras do not belong together.
   */
  readonly era: number
}

/** The followed log. */
export interface Tail {
  /** How far the log was known to reach at the last look. */
  tip(): TailTip
  /** The same after a look, unless one was just taken, nothing was heard since, and it reaches up to `seq`. */
  freshTip(seq?: number): Promise<TailTip>
  /** The branch that the history of the tip has at a position; at most one read, and none where it was asked for lately. */
  branchAt(seq: number): Promise<Hex>
  /**
   * The next rows of a filter up to the tip, at most `limit`, and how far the log is covered with them. At once when the
   * ring has them; `undefined` when they must be read.
   */
  peek(question: TailQuery): PageRead | undefined
  /**
   * The same from the database, in a read shared with all who ask it; `'PRUNED'` when the rows are no longer there,
   * `'REPLACED'` when the history of the tip is no longer there.
   */
  read(question: TailQuery): Promise<PageRead | 'PRUNED' | 'REPLACED'>
  /** Calls `rouse` when the tip has moved over rows of the filter, or may have; the answer ends it. */
  watch(filter: UpdateFilter, rouse: () => void): () => void
  /** Calls `rouse` whenever the tip has moved, rows or none; the answer ends it. */
  watchTip(rouse: () => void): () => void
  /** Calls `tell` when outputs have passed to another owner by time alone; the answer ends it. */
  watchExpirationTransfers(tell: (transfers: readonly ExpirationTransfer[]) => void): () => void
  /** Counts of what was done, for measurements. */
  counts(): TailCounts
  close(): Promise<void>
}

/** The rows of a page, and the position up to which nothing else is there. */
export interface PageRead {
  readonly rows: readonly LedgerUpdate[]
  readonly position: LogPosition
}

/** Where and how much. */
export interface TailQuery {
  readonly filter: UpdateFilter
  readonly after: number
  readonly limit: number
}

/** What a tail has done since it was opened, and for whom. */
export interface TailCounts {
  /** Looks at the log's end. */
  readonly looks: number
  /** Reads of rows, at the end and below the ring. */
  readonly reads: number
  /** Those who wait for rows now. */
  readonly watchers: number
}

/** Begins to follow a log that is founded, with its newest rows read. */
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
    const isOther = !(await goesOn(next))
    const isFar = next.seq - known > deps.ringRows
    const from = isOther || isFar ? ringFloor(next) : known
    const rows = await readRows(counting, from, next.seq)
    // The database was replaced while it was read: what was read is of neither history, and the next tick looks again.
    if ((rows.at(-1)?.branch ?? next.branch) !== next.branch) return
    if (isOther) deps.expirationTransfers.clear()
    const transfers = await deps.expirationTransfers.between(isOther ? next : tip, next, rows)
    // From here on nothing is waited for: nobody may see the ring ahead of the tip.
    if (isOther) {
      forget()
      log.warn('log-replaced', { epoch: next.logId, slot: next.slot, formerSlot: tip.slot })
    }
    if (from !== known || isOther) ring.clear(from)
    if (rows.length === next.seq - from) ring.append(rows)
    // Pruned meanwhile: a ring has no gaps.
    else ring.clear(next.seq)
    const hasMoved = isOther || next.slot !== tip.slot
    tip = { ...next, era: isOther ? tip.era + 1 : tip.era }
    lookedAt = performance.now()
    if (isOther || isFar) watchers.notifyAll()
    else watchers.notifyFor(rows)
    if (hasMoved) for (const rouse of [...tipWatchers]) rouse()
    if (transfers.length > 0) for (const tell of [...transferWatchers]) tell(transfers)
  }

  /** Whether the log at another tip is the known one, grown: then the newest commitment that was known is still in it. */
  async function goesOn(next: LogTip): Promise<boolean> {
    if (next.logId !== tip.logId || next.slot < tip.slot) return false
    const same = next.slot === tip.slot ? next : await reader.milestone(tip.slot)
    return same?.commitmentId === tip.commitmentId
  }

  /** What is kept in memory is of another history than the database. */
  function forget(): void {
    branches.clear()
    pages.clear()
    reader.forget()
  }

  async function follow(): Promise<void> {
    let heard = tip.seq
    while (!closing.signal.aborted) {
      heard = await wake.wait({ beyond: heard, signal: closing.signal, tickMs })
      if (closing.signal.aborted) return
      try {
        await look()
      } catch (failure) {
        // The next tick looks again.
        if (!isStoreFault(failure)) log.error('feed-look-failed', { error: failure })
      }
      // What was heard may run ahead of what is read, on a lagging replica: then wait, do not spin.
      heard = Math.max(heard, tip.seq)
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
      // The look that was under way may have begun before the commit.
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
      // What the log does not reach yet has another one later.
      if (seq < end) branches.set(seq, found)
      return found
    }
    // The answer is of another history: of that which the next look finds.
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
    // Looked at after the rows. Where the history of the tip is still there, it was there when they were read; and pruned
    // rows go in the transaction that says so.
    const now = await reader.logTip()
    const isThere =
      from.era === tip.era &&
      now.logId === from.logId &&
      (await branchNow(now, from.seq)) === from.branch
    if (isThere && after >= now.prunedSeq) return { rows, position: { seq: end, branch } }
    // Whoever is told of it is told the bounds of now.
    await lookAnew()
    return isThere ? 'PRUNED' : 'REPLACED'
  }

  /** The branch at a position in the database of this moment, whatever history that has. */
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
    watchTip: (rouse) => {
      tipWatchers.add(rouse)
      return () => tipWatchers.delete(rouse)
    },
    watchExpirationTransfers: (tell) => {
      transferWatchers.add(tell)
      return () => transferWatchers.delete(tell)
    },
    counts: () => ({ ...counted, watchers: watchers.count() }),
    close: async () => {
      closing.abort()
      await following
    },
  }
}

/** The rows behind a position; fewer where some of them were pruned. */
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

import type { Log } from '../lib/log.ts'
import { isStoreFault } from '../store/away.ts'
import type { LedgerUpdate, LogTip } from '../store/rows.ts'
import type { Handover, Handovers } from './handovers.ts'
import { createPages, type PageRead } from './pages.ts'
import type { LogReader, UpdateFilter } from './read.ts'
import { createRing } from './ring.ts'
import type { Wake } from './wake.ts'
import { createWatchers } from './watch.ts'

/** The live end of the log: one reader per process follows it, keeps the newest rows, and rouses those they concern. */

/** What following the log needs. */
export interface TailDeps {
  readonly reader: LogReader
  readonly wake: Pick<Wake, 'wait' | 'newest'>
  readonly handovers: Handovers
  /** How long a lost wake-up may cost, in milliseconds. */
  readonly tickMs: number
  readonly log: Pick<Log, 'error'>
  /** The least number of newest rows that are kept in memory. */
  readonly ringRows: number
  /** The most rows of older pages that are kept in memory. */
  readonly pageRows: number
}

/** The followed log. */
export interface Tail {
  /** How far the log was known to reach at the last look. */
  tip(): LogTip
  /** The same after a look, unless one was just taken, nothing was heard since, and it reaches up to `seq`. */
  freshTip(seq?: number): Promise<LogTip>
  /**
   * The next rows of a filter up to the tip, at most `limit`, and how far the log is covered with them. At once when the
   * ring has them; `undefined` when they must be read.
   */
  peek(question: TailQuestion): PageRead | undefined
  /** The same from the database, in a read shared with all who ask it; `'PRUNED'` when the rows are no longer there. */
  read(question: TailQuestion): Promise<PageRead | 'PRUNED'>
  /** Calls `rouse` when the tip has moved over rows of the filter, or may have; the answer ends it. */
  watch(filter: UpdateFilter, rouse: () => void): () => void
  /** Calls `rouse` whenever the tip has moved, rows or none; the answer ends it. */
  watchTip(rouse: () => void): () => void
  /** Calls `tell` when outputs have passed to another owner by time alone; the answer ends it. */
  watchHandovers(tell: (handovers: readonly Handover[]) => void): () => void
  /** Counts of what was done, for measurements. */
  counts(): TailCounts
  close(): Promise<void>
}

/** Where and how much. */
export interface TailQuestion {
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
  let tip = await reader.logTip()
  let lookedAt = performance.now()
  let looking: Promise<void> | undefined
  const closing = new AbortController()
  const ring = createRing(deps.ringRows, ringFloor(tip))
  const pages = createPages(counting, deps.pageRows)
  const watchers = createWatchers()
  const tipWatchers = new Set<() => void>()
  const handoverWatchers = new Set<(handovers: readonly Handover[]) => void>()
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
    const isOther = next.epoch !== tip.epoch || next.seq < known
    const isFar = next.seq - known > deps.ringRows
    const from = isOther || isFar ? ringFloor(next) : known
    const rows = await readRows(counting, from, next.seq)
    const handedOver = await deps.handovers.between(tip, next, rows)
    // From here on nothing is waited for: nobody may see the ring ahead of the tip.
    if (from !== known || isOther) ring.clear(from)
    if (rows.length === next.seq - from) ring.append(rows)
    // Pruned meanwhile: a ring has no gaps.
    else ring.clear(next.seq)
    const hasMoved = isOther || next.slot !== tip.slot
    tip = next
    lookedAt = performance.now()
    if (isOther || isFar) watchers.rouseAll()
    else watchers.rouseFor(rows)
    if (hasMoved) for (const rouse of [...tipWatchers]) rouse()
    if (handedOver.length > 0) for (const tell of [...handoverWatchers]) tell(handedOver)
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

  async function freshTip(seq = 0): Promise<LogTip> {
    if (Math.max(wake.newest(), seq) > tip.seq || performance.now() - lookedAt > tickMs) {
      const running = looking
      await look()
      // The look that was under way may have begun before the commit.
      if (running !== undefined && wake.newest() > tip.seq) await look()
    }
    return tip
  }

  function peek({ filter, after, limit }: TailQuestion): PageRead | undefined {
    const rows = ring.read(filter, after, limit)
    if (rows === undefined) return undefined
    const isFull = rows.length === limit
    return { rows, position: isFull ? (rows.at(-1)?.seq ?? after) : Math.max(after, tip.seq) }
  }

  async function read({ filter, after, limit }: TailQuestion): Promise<PageRead | 'PRUNED'> {
    const upTo = tip.seq
    const page = await pages.read({ ...filter, after, upTo, limit })
    // Looked at after the rows, for they go in the transaction that says so.
    const { prunedSeq } = await reader.logTip()
    if (after >= prunedSeq) return page
    // Whoever is told of it is told the bounds of now.
    await look()
    return 'PRUNED'
  }

  return {
    tip: () => tip,
    freshTip,
    peek,
    read,
    watch: watchers.watch,
    watchTip: (rouse) => {
      tipWatchers.add(rouse)
      return () => tipWatchers.delete(rouse)
    },
    watchHandovers: (tell) => {
      handoverWatchers.add(tell)
      return () => handoverWatchers.delete(tell)
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

const everything: UpdateFilter = { classes: ['OWNED', 'MENTIONED'] }

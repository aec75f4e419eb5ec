import type { Hex } from '../lib/hex.ts'
import type { LedgerUpdate, LogRange, LogTip, UpdateClass } from '../store/rows.ts'
import type { Wake } from './wake.ts'

/** The one read of the log: a page has two ends, a feed is the same read with an open end. */

/** The part of the store that the read needs. */
export interface LogReader {
  logTip(): Promise<LogTip>
  updates(range: LogRange): Promise<readonly LedgerUpdate[]>
}

/** Which rows of the log. */
export interface UpdateFilter {
  /** Address bytes, at most 100 and each once; left out: all addresses. */
  readonly addresses?: readonly Hex[]
  readonly classes: readonly UpdateClass[]
}

/** A bounded range of the filtered log; `after` and `before` are positions and exclusive. */
export interface UpdateRange extends UpdateFilter {
  readonly after: number
  readonly before: number
  readonly limit: number
  readonly order: LogRange['order']
}

/**
 * The first `limit` rows of a range in its order: one bounded read per address, merged by position. `before` must not
 * lie beyond a tip that was read earlier: the reads are not one snapshot, and only below a known tip are all of them
 * complete.
 */
export async function readUpdates(
  reader: Pick<LogReader, 'updates'>,
  { addresses, ...range }: UpdateRange,
): Promise<readonly LedgerUpdate[]> {
  if (range.limit < 1 || range.before - range.after < 2) return []
  if (addresses === undefined) return await reader.updates(range)
  const runs = await Promise.all(addresses.map((address) => reader.updates({ ...range, address })))
  if (runs.length === 1) return runs[0] ?? []
  const sign = range.order === 'ascending' ? 1 : -1
  return runs
    .flat()
    .sort((a, b) => sign * (a.seq - b.seq))
    .slice(0, range.limit)
}

/** What a feed needs beside the filter. */
export interface FeedDeps {
  readonly reader: LogReader
  readonly wake: Pick<Wake, 'wait'>
  /** How long a lost wake-up may cost, in milliseconds. */
  readonly tickMs: number
}

/** Where a feed begins, how much it takes at once, and what ends it. */
export interface FeedRange extends UpdateFilter {
  readonly after: number
  /** The most rows of one batch. */
  readonly limit: number
  readonly signal: AbortSignal
}

/** Some rows, and the position that the feed has reached with them: nothing up to it is missing. */
export interface FeedBatch {
  readonly rows: readonly LedgerUpdate[]
  readonly position: number
}

/** Every row after a position, old ones first and then as they are committed, until the signal. Never an empty batch. */
export async function* followUpdates(
  { reader, wake, tickMs }: FeedDeps,
  { after, limit, signal, ...filter }: FeedRange,
): AsyncGenerator<FeedBatch, void, undefined> {
  let position = after
  let heard = after
  while (!signal.aborted) {
    const tip = await reader.logTip()
    const range = { after: position, before: tip.seq + 1, limit, order: 'ascending' } as const
    const rows = await readUpdates(reader, { ...filter, ...range })
    const full = rows.length === limit
    position = full ? (rows.at(-1)?.seq ?? position) : Math.max(position, tip.seq)
    if (rows.length > 0 && !signal.aborted) yield { rows, position }
    if (full) continue
    // What was heard may run ahead of what is read, on a lagging replica: then wait, do not spin.
    heard = Math.max(heard, position)
    heard = await wake.wait({ beyond: heard, signal, tickMs })
  }
}

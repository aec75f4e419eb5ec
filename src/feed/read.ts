import type { Hex } from '../lib/hex.ts'
import type { StoreReader } from '../store/contract.ts'
import { type LedgerUpdate, type LogRange, type UpdateClass, updateClasses } from '../store/rows.ts'

/** The read of the log that pages and feeds share: a page has two bounds, a feed has no upper bound. */

/** The part of the store that reads of the log need. */
export interface LogReader extends Pick<StoreReader, 'logTip' | 'branchesAt' | 'milestone'> {
  updates(range: LogRange): Promise<readonly LedgerUpdate[]>
}

/** Selects rows of the log. */
export interface UpdateFilter {
  /** Address bytes: at most 100, without duplicates. All addresses if left out. */
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
 * exceed a tip that was read earlier by more than 1: the reads do not share a snapshot, and are complete only up to a known tip.
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

/** All rows after `after`, up to `upTo`, in reads of bounded size. Pruned rows are missing. */
export async function readRows(
  reader: Pick<LogReader, 'updates'>,
  after: number,
  upTo: number,
): Promise<readonly LedgerUpdate[]> {
  const rows: LedgerUpdate[] = []
  const limit = rowsPerRead
  for (let at = after; at < upTo; at += limit) {
    const before = Math.min(upTo, at + limit) + 1
    const range = { classes: updateClasses, after: at, before, limit, order: 'ascending' } as const
    for (const row of await reader.updates(range)) rows.push(row)
  }
  return rows
}

const rowsPerRead = 1_000

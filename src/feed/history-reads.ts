import type { Hex } from '../lib/hex.ts'
import type { LedgerUpdate, LogPosition, LogTip } from '../store/rows.ts'
import type { Branches } from './branches.ts'
import type { LogWindow } from './log-window.ts'
import type { Pages } from './pages.ts'
import type { LogReader, UpdateFilter } from './read.ts'
import type { TipFollower } from './tip-follower.ts'

/** Reads of rows up to the tip: from memory, or from the database with a proof that they belong to the history of the tip. */

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

export interface HistoryReadsDeps {
  readonly reader: Pick<LogReader, 'logTip' | 'branchesAt'>
  readonly window: Pick<LogWindow, 'tip' | 'ring'>
  readonly follower: Pick<TipFollower, 'refresh'>
  readonly branches: Pick<Branches, 'at'>
  readonly pages: Pick<Pages, 'read'>
}

export interface HistoryReads {
  /** The next rows of a filter from the ring; `undefined` when they must be read. */
  peek(query: TailQuery): PageRead | undefined
  /** The same from the database; `'PRUNED'` or `'REPLACED'` when they are no longer there. */
  read(query: TailQuery): Promise<PageRead | 'PRUNED' | 'REPLACED'>
  /** How many peeks the ring answered, and how many lay below it. */
  peeks(): { readonly inRing: number; readonly belowRing: number }
}

export function createHistoryReads(deps: HistoryReadsDeps): HistoryReads {
  const { reader, window, follower, branches, pages } = deps
  let inRing = 0
  let belowRing = 0

  function peek({ filter, after, limit }: TailQuery): PageRead | undefined {
    const rows = window.ring.read(filter, after, limit)
    if (rows === undefined) {
      belowRing++
      return undefined
    }
    inRing++
    const { seq, branch } = (rows.length === limit ? rows.at(-1) : undefined) ?? window.tip()
    return { rows, position: { seq, branch } }
  }

  async function read(query: TailQuery): Promise<PageRead | 'PRUNED' | 'REPLACED'> {
    const { filter, after, limit } = query
    const tip = window.tip()
    const { rows, end: seq } = await pages.read({ ...filter, after, upTo: tip.seq, limit })
    const last = rows.at(-1)
    const branch = last?.seq === seq ? last.branch : await branches.at(seq)
    // Read after the rows. If the history of the tip is still there, it was there when they were read; and rows are pruned
    // in the transaction that records it.
    const now = await reader.logTip()
    const isThere =
      tip.era === window.tip().era &&
      now.logId === tip.logId &&
      (await branchNow(now, tip.seq)) === tip.branch
    if (isThere && after >= now.prunedSeq) return { rows, position: { seq, branch } }
    // The reset of the feed names the present bounds of the log.
    await follower.refresh()
    return isThere ? 'PRUNED' : 'REPLACED'
  }

  /** The branch at a position in the database as it is now, whatever its history. */
  async function branchNow(now: LogTip, seq: number): Promise<Hex | undefined> {
    if (now.seq === seq) return now.branch
    const [branch] = await reader.branchesAt([seq])
    return branch
  }

  return { peek, read, peeks: () => ({ inRing, belowRing }) }
}

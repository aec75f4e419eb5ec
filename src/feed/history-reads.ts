import type { Hex } from '../lib/hex.ts'
import type { SlotIndex } from '../protocol/primitives.ts'
import type { LedgerUpdate, LogPosition, LogTip } from '../store/rows.ts'
import type { Branches } from './branches.ts'
import type { LogWindow } from './log-window.ts'
import type { Pages } from './pages.ts'
import { type LogReader, readRows, type UpdateFilter } from './read.ts'
import type { TipFollower } from './tip-follower.ts'

/** Reads of rows up to the tip: from memory, or from the database with a check that they belong to the history of the tip. */

/** The rows of a page, and the position up to which they are complete. */
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
  readonly reader: Pick<LogReader, 'logTip' | 'branchesAt' | 'updates'>
  readonly window: Pick<LogWindow, 'tip' | 'ring'>
  readonly follower: Pick<TipFollower, 'refresh'>
  readonly branches: Pick<Branches, 'at'>
  readonly pages: Pick<Pages, 'read'>
}

export interface HistoryReads {
  /** The next rows of a filter up to the tip, at most `limit`, from the ring; `undefined` if the database has to be read. */
  peek(query: TailQuery): PageRead | undefined
  /**
   * The next rows of a filter from the database, in a read that equal requests share. Resolves to `'PRUNED'` if the database
   * no longer has the rows, and to `'REPLACED'` if it no longer has the history of the tip.
   */
  read(query: TailQuery): Promise<PageRead | 'PRUNED' | 'REPLACED'>
  /** The newest milestone without a row after a position below the tip. Recent positions need no read, other positions one. */
  slotUpTo(seq: number): Promise<SlotIndex>
  /** Numbers of peeks that the ring answered, and of peeks below the ring. */
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
    // The tip is read after the rows. If the database still has the history of the former tip, it had it when the rows were
    // read. Pruning deletes rows and records the new bound in one transaction, so `prunedSeq` is also valid for that read.
    const now = await reader.logTip()
    const isThere =
      tip.era === window.tip().era &&
      now.logId === tip.logId &&
      (await branchNow(now, tip.seq)) === tip.branch
    if (isThere && after >= now.prunedSeq) return { rows, position: { seq, branch } }
    // The reset message of the feed needs the present bounds of the log.
    await follower.refresh()
    return isThere ? 'PRUNED' : 'REPLACED'
  }

  /** The branch that the database now has at a position, in any history. */
  async function branchNow(now: LogTip, seq: number): Promise<Hex | undefined> {
    if (now.seq === seq) return now.branch
    const [branch] = await reader.branchesAt([seq])
    return branch
  }

  async function slotUpTo(seq: number): Promise<SlotIndex> {
    const next = window.ring.at(seq + 1) ?? (await readRows(reader, seq, seq + 1))[0]
    // Without a next row the log was pruned or replaced, and the next read of the feed finds that out.
    return Math.max((next?.milestoneIndex ?? 0) - 1, 0)
  }

  return { peek, read, slotUpTo, peeks: () => ({ inRing, belowRing }) }
}

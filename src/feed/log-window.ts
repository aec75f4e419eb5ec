import type { LedgerUpdate, LogTip } from '../store/rows.ts'
import type { ExpirationTransfer, ExpirationTransfers } from './expiration-transfers.ts'
import { type LogReader, readRows } from './read.ts'
import { createRing, type Ring } from './ring.ts'

/** The newest rows of the log with its tip, moved forward by reading. */

/** The tip of the log, and the history that it belongs to. */
export interface TailTip extends LogTip {
  /**
   * Counts the histories that were followed: it rises when the log was replaced by another one, or by an older copy of
   * itself that went on in another way. Positions of two eras cannot be compared.
   */
  readonly era: number
}

export interface LogWindowOptions {
  readonly reader: Pick<LogReader, 'logTip' | 'milestone' | 'updates'>
  readonly expirationTransfers: ExpirationTransfers
  /** The least number of newest rows that are kept. */
  readonly ringRows: number
  /** Called after each read, in the same turn of the event loop in which the tip and the rows have changed. */
  readonly onChange: (change: WindowChange) => void
}

/** What one read has changed. */
export interface WindowChange {
  readonly former: TailTip
  readonly tip: TailTip
  /** Whether the log is another one than before. */
  readonly isReplaced: boolean
  /** Every row since the former tip; `undefined` where they are not known. */
  readonly rows: readonly LedgerUpdate[] | undefined
  readonly transfers: readonly ExpirationTransfer[]
}

export interface LogWindow {
  readonly ring: Pick<Ring, 'read' | 'at'>
  tip(): TailTip
  /**
   * Reads on to the present tip; `false` where the log was replaced during the read, so that nothing has changed. Calls
   * must not overlap.
   */
  advance(): Promise<boolean>
  /** The number of calls of `advance`. */
  advances(): number
}

/** Reads the newest rows of an initialized log. */
export async function openLogWindow(options: LogWindowOptions): Promise<LogWindow> {
  const { reader, expirationTransfers, ringRows, onChange } = options
  const ringFloor = ({ prunedSeq, seq }: LogTip) => Math.max(prunedSeq, seq - ringRows)
  let tip: TailTip = { ...(await reader.logTip()), era: 0 }
  let advances = 0
  const ring = createRing(ringRows, ringFloor(tip))
  ring.append(await readRows(reader, ring.position(), tip.seq))

  async function advance(): Promise<boolean> {
    advances++
    const next = await reader.logTip()
    const known = ring.position()
    const isReplaced = !(await continues(next))
    const isFar = next.seq - known > ringRows
    const from = isReplaced || isFar ? ringFloor(next) : known
    const rows = await readRows(reader, from, next.seq)
    // The database was replaced during the read: the rows belong to neither history, and the next read begins anew.
    if ((rows.at(-1)?.branch ?? next.branch) !== next.branch) return false
    if (isReplaced) expirationTransfers.clear()
    const transfers = await expirationTransfers.between(isReplaced ? next : tip, next, rows)
    // No `await` from here on: the ring must not be seen ahead of the tip.
    if (from !== known || isReplaced) ring.clear(from)
    if (rows.length === next.seq - from) ring.append(rows)
    // Some rows were pruned meanwhile, and a ring has no gaps.
    else ring.clear(next.seq)
    const former = tip
    tip = { ...next, era: isReplaced ? former.era + 1 : former.era }
    onChange({ former, tip, isReplaced, rows: isReplaced || isFar ? undefined : rows, transfers })
    return true
  }

  /** Whether the log has only grown: then it still contains the newest known commitment. */
  async function continues(next: LogTip): Promise<boolean> {
    if (next.logId !== tip.logId || next.slot < tip.slot) return false
    const same = next.slot === tip.slot ? next : await reader.milestone(tip.slot)
    return same?.commitmentId === tip.commitmentId
  }

  return { ring, tip: () => tip, advance, advances: () => advances }
}

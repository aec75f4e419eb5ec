import type { LedgerUpdate, LogTip } from '../store/rows.ts'
import type { ExpirationTransfer, ExpirationTransfers } from './expiration-transfers.ts'
import { type LogReader, readRows } from './read.ts'
import { createRing, type Ring } from './ring.ts'

/** The tip and the newest rows of the log; each read moves them forward. */

/** The tip of the log, and the history that it belongs to. */
export interface TailTip extends LogTip {
  /**
   * Number of replacements of the log. It rises when the log is replaced by another log, or by an older copy of itself that
   * continued differently. Positions of two eras cannot be compared.
   */
  readonly era: number
}

export interface LogWindowOptions {
  readonly reader: Pick<LogReader, 'logTip' | 'milestone' | 'updates'>
  readonly expirationTransfers: ExpirationTransfers
  /** Minimum number of newest rows that are held. */
  readonly ringRows: number
  /** Called after each read, in the turn of the event loop in which the tip and the rows change. */
  readonly onChange: (change: WindowChange) => void
}

/** The change that one read has made. */
export interface WindowChange {
  readonly former: TailTip
  readonly tip: TailTip
  /** Whether the log was replaced. */
  readonly isReplaced: boolean
  /** All rows since the former tip; `undefined` if not all of them were read. */
  readonly rows: readonly LedgerUpdate[] | undefined
  readonly transfers: readonly ExpirationTransfer[]
}

export interface LogWindow {
  readonly ring: Pick<Ring, 'read' | 'at'>
  tip(): TailTip
  /**
   * Reads up to the present tip. Resolves to `false` if the log was replaced during the read; then nothing has changed.
   * Calls must not overlap.
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
    // The database was replaced during the read: the rows are unusable, and the next read starts again.
    if ((rows.at(-1)?.branch ?? next.branch) !== next.branch) return false
    if (isReplaced) expirationTransfers.clear()
    // Rows that are not read may have created outputs that expire soon.
    if (isFar) expirationTransfers.lookAheadFrom(next.slot)
    const transfers = await expirationTransfers.between(isReplaced ? next : tip, next, rows)
    // No `await` from here on: no reader may see the ring ahead of the tip.
    if (from !== known || isReplaced) ring.clear(from)
    if (rows.length === next.seq - from) ring.append(rows)
    // Some rows were pruned during the read, and a ring has no gaps.
    else ring.clear(next.seq)
    const former = tip
    tip = { ...next, era: isReplaced ? former.era + 1 : former.era }
    onChange({ former, tip, isReplaced, rows: isReplaced || isFar ? undefined : rows, transfers })
    return true
  }

  /** Whether the log has only grown. It then still contains the newest known commitment. */
  async function continues(next: LogTip): Promise<boolean> {
    if (next.logId !== tip.logId || next.slot < tip.slot) return false
    const same = next.slot === tip.slot ? next : await reader.milestone(tip.slot)
    return same?.commitmentId === tip.commitmentId
  }

  return { ring, tip: () => tip, advance, advances: () => advances }
}

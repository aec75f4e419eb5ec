import { type Cursor, type CursorError, decodeCursor, encodeCursor } from '../../feed/cursor.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { TimeParameters } from '../../protocol/slots.ts'
import type { Between, PageOrder, Position } from '../../store/contract/list.ts'
import { comparePositions } from '../../store/positions.ts'
import type { LedgerUpdate, LogTip } from '../../store/rows.ts'
import { branchOf } from '../../store/values.ts'
import { type ListError, type PageArguments, readKeysetPage } from '../lists/keyset-page.ts'
import type { Services } from '../services.ts'
import type { UpdatesNotKept } from '../slots/explorer-lists.ts'
import type { MilestoneView } from '../slots/read-milestone.ts'
import { type LedgerUpdatePage, type LedgerUpdateView, viewOf } from './list-ledger-updates.ts'

/** Pages of the updates of one milestone over all addresses. Their positions are known without a read. */

/** Reads that the pages of many milestones share. */
export interface MilestoneUpdateReads {
  tip(): Promise<LogTip>
  /** The row at a position; `undefined` if it is no longer kept. */
  updateAt(seq: number): Promise<LedgerUpdate | undefined>
}

/** Reads rows of the log by position, in one statement. */
export async function readUpdatesAt(
  { store }: Pick<Services, 'store'>,
  seqs: readonly number[],
): Promise<ReadonlyMap<number, LedgerUpdate>> {
  return new Map((await store.read.updatesAt(seqs)).map((row) => [row.seq, row]))
}

/** Lists a page of the updates of a milestone, in log order or in reverse. */
export function listUpdatesOfMilestone(
  parameters: TimeParameters,
  reads: MilestoneUpdateReads,
  milestone: MilestoneView,
  args: PageArguments,
): Promise<Result<LedgerUpdatePage, ListError | UpdatesNotKept>> {
  const ofMilestone = { count: milestone.updateCount, positionsIn }
  return listUpdatesAmong(parameters, reads, { milestone, ...ofMilestone }, args)
}

/** Updates of a milestone whose positions are known. */
export interface UpdatesAmong {
  readonly milestone: MilestoneView
  /** Number of updates. */
  readonly count: number
  /** Positions of the updates within a part of the milestone. */
  positionsIn(part: Between, page: PageOrder): readonly number[]
}

/** Lists a page of some updates of a milestone. */
export async function listUpdatesAmong(
  parameters: TimeParameters,
  { tip: readTip, updateAt }: MilestoneUpdateReads,
  { milestone, count, positionsIn }: UpdatesAmong,
  args: PageArguments,
): Promise<Result<LedgerUpdatePage, ListError | UpdatesNotKept>> {
  const { commitmentId, firstCursor, updateCount, index } = milestone
  const first = firstCursor === undefined ? undefined : decodeCursor(firstCursor, 'firstCursor')
  const start = first?.ok === true ? first.value : undefined
  const firstSeq = start?.seq ?? 1
  const log = { logId: start?.logId ?? '0x', branch: branchOf(commitmentId) } as const
  const whole = { above: [firstSeq - 1], below: [firstSeq + updateCount] }
  // Pruning removes rows in batches, and a page without some of them would look complete.
  let isWhole = true
  const list = {
    cursors: cursorsOf(log, whole),
    whole,
    positionOf: ({ seq }: LedgerUpdateView) => [seq],
    read: async (part: Between, page: PageOrder) => {
      const rows = await Promise.all(positionsIn(part, page).map(updateAt))
      const kept = rows.flatMap((row) => (row === undefined ? [] : viewOf(row, log, parameters)))
      isWhole &&= kept.length === rows.length
      return kept
    },
  }
  const [page, tip] = await Promise.all([readKeysetPage(list, args), readTip()])
  if (!page.ok) return page
  if (!isWhole) return err({ code: 'UPDATES_NOT_KEPT', slot: index })
  return ok({
    ...page.value,
    totalCount: async () => count,
    tipCursor: encodeCursor(tip),
  })
}

/** The cursors of the log. A cursor inside the milestone must have its branch; other cursors only bound the list. */
function cursorsOf({ logId, branch }: Omit<Cursor, 'seq'>, { above, below }: Between) {
  return {
    encode: ([seq]: Position) => encodeCursor({ logId, branch, seq: Number(seq) }),
    decode: (text: string, argument: string): Result<Position, CursorError> => {
      const cursor = decodeCursor(text, argument)
      if (!cursor.ok) return cursor
      const position = [cursor.value.seq]
      const isInside =
        comparePositions(position, above) > 0 && comparePositions(position, below) < 0
      const isOurs = cursor.value.logId === logId && cursor.value.branch === branch
      return isInside && !isOurs ? err({ code: 'CURSOR_OF_ANOTHER_LOG', argument }) : ok(position)
    },
  }
}

function positionsIn({ above, below }: Between, { order, limit }: PageOrder): number[] {
  const [low, high] = [Number(above[0]), Number(below[0])]
  const count = Math.max(0, Math.min(limit, high - low - 1))
  return Array.from({ length: count }, (_, i) =>
    order === 'ascending' ? low + 1 + i : high - 1 - i,
  )
}

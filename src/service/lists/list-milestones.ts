import type { Result } from '../../lib/result.ts'
import type { Between, PageOrder, Position } from '../../store/list-contract.ts'
import type { Services } from '../services.ts'
import { type MilestoneView, milestoneView } from '../slots/read-milestone.ts'
import type { MilestoneRangeReversed } from '../updates/list-ledger-updates.ts'
import { keysetCursors } from './keyset-cursor.ts'
import {
  type KeysetPage,
  type ListError,
  type MilestoneBounds,
  type PageArguments,
  type Placed,
  partOfSlots,
  readKeysetPage,
} from './keyset-page.ts'

/** Milestones, page by page. */

/** A page of milestones. */
export type MilestonePage = KeysetPage<Placed<MilestoneView>>

/** Milestones by their slots. */
export async function listMilestones(
  { store: { read }, parameters }: Pick<Services, 'store' | 'parameters'>,
  bounds: MilestoneBounds,
  page: PageArguments,
): Promise<Result<MilestonePage, ListError | MilestoneRangeReversed>> {
  const whole = partOfSlots({ ...bounds }, [])
  if (!whole.ok) return whole
  const list = {
    cursors: milestoneCursors,
    // The first one of the bounds is among them.
    whole: { ...whole.value, above: [slotAt(whole.value.above) - 1] },
    positionOf: ({ index }: MilestoneView) => [index],
    read: async ({ above, below }: Between, order: PageOrder) => {
      const rows = await read.milestones({
        from: slotAt(above) + 1,
        to: slotAt(below) - 1,
        ...order,
      })
      const { logId } = await read.logTip()
      return rows.map((row) => milestoneView({ parameters, logId }, row))
    },
  } as const
  return await readKeysetPage(list, page)
}

function slotAt([slot]: Position): number {
  return Number(slot)
}

const milestoneCursors = keysetCursors({ list: 'milestone', values: ['NUMBER'] })

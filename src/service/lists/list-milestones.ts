import type { Between, PageOrder, Position } from '../../store/contract/list.ts'
import type { Services } from '../services.ts'
import { type MilestoneView, milestoneView } from '../slots/read-milestone.ts'
import type { MilestoneRangeReversed } from '../updates/list-ledger-updates.ts'
import { keysetCursors } from './keyset-cursor.ts'
import {
  type MilestoneBounds,
  type PageArguments,
  type Paged,
  readKeysetPage,
  slotsWithin,
} from './keyset-page.ts'

/** Pages of milestones. */

/** Lists milestones by slot. */
export async function listMilestones(
  { store: { read }, parameters }: Pick<Services, 'store' | 'parameters'>,
  bounds: MilestoneBounds,
  page: PageArguments,
): Paged<MilestoneView, MilestoneRangeReversed> {
  const slots = slotsWithin(bounds)
  if (!slots.ok) return slots
  const list = {
    cursors: milestoneCursors,
    whole: { above: [slots.value.from - 1], below: [slots.value.to + 1] },
    positionOf: ({ index }: MilestoneView) => [index],
    read: async ({ above, below }: Between, order: PageOrder) => {
      const [from, to] = [slotAt(above) + 1, slotAt(below) - 1]
      const [rows, { logId }] = await Promise.all([
        read.milestones({ from, to, ...order }),
        read.logTip(),
      ])
      return rows.map((row) => milestoneView({ parameters, logId }, row))
    },
  } as const
  return await readKeysetPage(list, page)
}

function slotAt([slot]: Position): number {
  return Number(slot)
}

const milestoneCursors = keysetCursors({ list: 'milestone', values: ['NUMBER'] })

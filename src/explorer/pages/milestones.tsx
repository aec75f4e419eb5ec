import { document, type MilestonesPageData } from '../../generated/explorer/milestones.ts'
import { listPage, type RowOf } from '../list-page.tsx'
import { countColumn, timeColumn } from '../parts/columns.tsx'
import { MilestoneLink } from '../parts/moments.tsx'
import type { Column } from '../parts/table.tsx'
import { chainTexts } from '../texts-chains.ts'

const words = chainTexts.lists

const columns: readonly Column<RowOf<MilestonesPageData['milestones']>>[] = [
  {
    head: words.milestone,
    cell: ({ index }) => <MilestoneLink index={index} />,
  },
  timeColumn(words.ended, ({ endedAt }) => endedAt),
  countColumn(words.blocks, ({ blockCount }) => blockCount),
  countColumn(words.transactions, ({ transactionCount }) => transactionCount),
  countColumn(words.updates, ({ updateCount }) => updateCount),
]

/** The list of all milestones. */
export const page = listPage({
  document,
  title: words.milestones,
  list: ({ milestones }) => milestones,
  columns,
  empty: words.noMilestones,
  live: 'MILESTONES',
})

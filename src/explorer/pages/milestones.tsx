import { document } from '../../generated/explorer/milestones.ts'
import { listPage } from '../list-page.tsx'
import { countColumn, timeColumn } from '../parts/tables/columns.tsx'
import { MilestoneLink } from '../parts/values/milestone-link.tsx'
import { chainTexts } from '../texts-chains.ts'

const words = chainTexts.lists

export const page = listPage(document, 'milestones', {
  title: words.milestones,
  empty: words.noMilestones,
  columns: [
    {
      head: words.milestone,
      cell: ({ index }) => <MilestoneLink index={index} />,
    },
    timeColumn(words.ended, ({ endedAt }) => endedAt),
    countColumn(words.blocks, ({ blockCount }) => blockCount),
    countColumn(words.transactions, ({ transactionCount }) => transactionCount),
    countColumn(words.updates, ({ updateCount }) => updateCount),
  ],
})

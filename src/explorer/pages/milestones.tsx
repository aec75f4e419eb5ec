import { document, type MilestonesPageData } from '../../generated/explorer/milestones.ts'
import { grouped } from '../format.ts'
import { definePage, type PageViewProps } from '../page.tsx'
import { Count } from '../parts/amount.tsx'
import { List } from '../parts/list.tsx'
import type { Column } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { afterIn, linkTo } from '../router.ts'
import { chainTexts } from '../texts-chains.ts'

/** The list of all milestones. */

type Milestone = NonNullable<MilestonesPageData['milestones']>['nodes'][number]

const words = chainTexts.lists

export const page = definePage({
  document,
  variables: afterIn,
  title: () => words.milestones,
  live: () => 'MILESTONES',
  View: MilestonesPage,
})

function MilestonesPage({ data: { milestones }, place }: PageViewProps<MilestonesPageData>) {
  return (
    <List
      title={words.milestones}
      of={milestones}
      columns={columns}
      empty={words.noMilestones}
      place={place}
    />
  )
}

const columns: readonly Column<Milestone>[] = [
  {
    head: words.milestone,
    cell: ({ index }) => (
      <a href={linkTo('milestone', { index: String(index) })}>{grouped(index)}</a>
    ),
  },
  { head: words.ended, cell: ({ endedAt }) => <Time at={endedAt} /> },
  { head: words.blocks, cell: ({ blockCount }) => <Count value={blockCount} />, isNumber: true },
  {
    head: words.transactions,
    cell: ({ transactionCount }) => <Count value={transactionCount} />,
    isNumber: true,
  },
  { head: words.updates, cell: ({ updateCount }) => <Count value={updateCount} />, isNumber: true },
]

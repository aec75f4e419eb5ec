import { document, type MilestonesPageData } from '../../generated/explorer/milestones.ts'
import { grouped } from '../format.ts'
import { definePage, type PageViewProps } from '../page.tsx'
import { Count } from '../parts/amount.tsx'
import { afterOf, Pager } from '../parts/pager.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { linkTo } from '../router.ts'
import { texts } from '../texts.ts'

/** All milestones, the newest first. */

type Milestone = NonNullable<MilestonesPageData['milestones']>['nodes'][number]

export const page = definePage({
  document,
  variables: afterOf,
  title: () => texts.home.milestones,
  // An older page is of milestones that change no more.
  live: (_, { query }) => (query.has('after') ? 'NEVER' : 'MILESTONES'),
  View: MilestonesPage,
})

function MilestonesPage({ data: { milestones }, place }: PageViewProps<MilestonesPageData>) {
  return (
    <>
      <h1>{texts.home.milestones}</h1>
      <Table
        caption={texts.home.milestones}
        rows={milestones?.nodes ?? []}
        keyOf={({ id }) => id}
        columns={columns}
        empty={texts.home.noActivity}
        isLive
      />
      <Pager place={place} info={milestones?.pageInfo} />
    </>
  )
}

const columns: readonly Column<Milestone>[] = [
  {
    head: texts.home.milestone,
    cell: ({ index }) => (
      <a href={linkTo('milestone', { index: String(index) })}>{grouped(index)}</a>
    ),
  },
  { head: texts.home.ended, cell: ({ endedAt }) => <Time at={endedAt} /> },
  {
    head: texts.milestone.blocks,
    cell: ({ blockCount }) => <Count value={blockCount} />,
    isNumber: true,
  },
  {
    head: texts.home.transactions,
    cell: ({ transactionCount }) => <Count value={transactionCount} />,
    isNumber: true,
  },
  {
    head: texts.home.updates,
    cell: ({ updateCount }) => <Count value={updateCount} />,
    isNumber: true,
  },
]

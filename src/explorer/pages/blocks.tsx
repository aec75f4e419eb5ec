import { type BlocksPageData, document } from '../../generated/explorer/blocks.ts'
import { shortened } from '../format.ts'
import { definePage, type PageViewProps } from '../page.tsx'
import { Id } from '../parts/id.tsx'
import { afterOf, Pager } from '../parts/pager.tsx'
import { State } from '../parts/state.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { texts } from '../texts.ts'

/** All blocks that are kept, the newest first. */

type Block = NonNullable<BlocksPageData['blocks']>['nodes'][number]

export const page = definePage({
  document,
  variables: afterOf,
  title: () => texts.milestone.blocks,
  // An older page does not move.
  live: (_, { query }) => (query.has('after') ? 'NEVER' : 'MILESTONES'),
  View: BlocksPage,
})

function BlocksPage({ data: { blocks }, place }: PageViewProps<BlocksPageData>) {
  return (
    <>
      <h1>{texts.milestone.blocks}</h1>
      <Table
        caption={texts.milestone.blocks}
        rows={blocks?.nodes ?? []}
        keyOf={({ id }) => id}
        columns={columns}
        empty={blocks === null ? texts.states.notOffered : texts.home.noActivity}
        isLive
      />
      <Pager place={place} info={blocks?.pageInfo} />
    </>
  )
}

const columns: readonly Column<Block>[] = [
  { head: texts.milestone.block, cell: ({ blockId }) => <Id of="block" id={blockId} /> },
  { head: texts.milestone.state, cell: ({ state }) => <State of={state} /> },
  { head: texts.milestone.issued, cell: ({ issuedAt }) => <Time at={issuedAt} /> },
  {
    head: texts.block.issuer,
    cell: ({ issuer, issuerId }) =>
      issuer === null ? (
        <code>{shortened(issuerId)}</code>
      ) : (
        <Id of="address" id={issuer.address.bech32} />
      ),
  },
  {
    head: texts.milestone.transaction,
    cell: ({ transaction }) =>
      transaction === null ? '–' : <Id of="transaction" id={transaction.transactionId} />,
  },
]

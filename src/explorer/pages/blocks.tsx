import { type BlocksPageData, document } from '../../generated/explorer/blocks.ts'
import { definePage, type PageViewProps } from '../page.tsx'
import { Id } from '../parts/id.tsx'
import { List } from '../parts/list.tsx'
import { MilestoneLink } from '../parts/moments.tsx'
import { ActiveFilter, Choice, oneOf } from '../parts/paging.tsx'
import { State } from '../parts/state.tsx'
import type { Column } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { afterIn, type Place } from '../router.ts'
import { chainTexts } from '../texts-chains.ts'

/** The list of all stored blocks, filtered by payload and issuer. */

type Block = NonNullable<BlocksPageData['blocks']>['nodes'][number]

const words = chainTexts.lists

const payloads = ['TRANSACTION', 'TAGGED_DATA', 'CANDIDACY', 'NONE'] as const

export const page = definePage({
  document,
  variables: (place) => ({
    payload: oneOf(payloads, place.query.get('payload')),
    issuer: place.query.get('issuer') ?? undefined,
    ...afterIn(place),
  }),
  title: () => words.blocks,
  // Blocks also arrive between milestones; they are shown with the next milestone.
  live: () => 'MILESTONES',
  View: BlocksPage,
})

function BlocksPage({ data: { blocks }, place }: PageViewProps<BlocksPageData>) {
  return (
    <List title={words.blocks} of={blocks} columns={columns} empty={words.noBlocks} place={place}>
      <Choice place={place} by="payload" label={words.byPayload} values={words.payloads} />
      <Issuer place={place} />
    </List>
  )
}

function Issuer({ place }: { readonly place: Place }) {
  const issuer = place.query.get('issuer')
  if (issuer === null) return null
  return (
    <ActiveFilter place={place} by="issuer">
      {words.issuedBy} <Id of="account" id={issuer} />
    </ActiveFilter>
  )
}

const columns: readonly Column<Block>[] = [
  { head: words.block, cell: ({ blockId }) => <Id of="block" id={blockId} /> },
  { head: words.issued, cell: ({ issuedAt }) => <Time at={issuedAt} /> },
  { head: words.state, cell: ({ state }) => <State of={state} /> },
  {
    head: words.slot,
    cell: ({ slot }) => <MilestoneLink of={slot} />,
  },
  { head: words.issuer, cell: ({ issuerId }) => <Id of="account" id={issuerId} /> },
  {
    head: words.transaction,
    cell: ({ transaction }) =>
      transaction === null ? '–' : <Id of="transaction" id={transaction.transactionId} />,
  },
]

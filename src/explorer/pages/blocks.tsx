import { document } from '../../generated/explorer/blocks.ts'
import { listPage } from '../list-page.tsx'
import { IssuerFilter } from '../parts/issuer-filter.tsx'
import {
  blockColumn,
  idColumn,
  issuedColumn,
  itsTransactionColumn,
  stateColumn,
} from '../parts/tables/columns.tsx'
import { Choice, oneOf } from '../parts/tables/paging.tsx'
import { SlotLink } from '../parts/values/moments.tsx'
import { chainTexts } from '../texts-chains.ts'

const words = chainTexts.lists

const payloads = ['TRANSACTION', 'TAGGED_DATA', 'CANDIDACY', 'NONE'] as const

/** The list of all stored blocks, filtered by payload and issuer. */
export const page = listPage(document, 'blocks', {
  title: words.blocks,
  empty: words.noBlocks,
  emptyIfFiltered: words.noMatchingBlocks,
  // Blocks also arrive between milestones; they are shown with the next milestone.
  filter: (query) => ({
    payload: oneOf(payloads, query.get('payload')),
    issuer: query.get('issuer') ?? undefined,
  }),
  Filters: ({ place }) => (
    <>
      <Choice place={place} by="payload" label={words.byPayload} values={words.payloads} />
      <IssuerFilter place={place} of="account" />
    </>
  ),
  columns: [
    blockColumn,
    issuedColumn,
    stateColumn,
    { head: words.slot, cell: ({ slot }) => <SlotLink of={slot} /> },
    idColumn(words.issuer, 'account', ({ issuerId }) => issuerId),
    itsTransactionColumn,
  ],
})

import { document } from '../../generated/explorer/transactions.ts'
import { listPage } from '../list-page.tsx'
import { amountColumn, stateColumn, transactionColumn } from '../parts/tables/columns.tsx'
import { Choice, oneOf } from '../parts/tables/paging.tsx'
import { movedBy, partiesColumn } from '../parts/transactions/parties.tsx'
import { SlotLink } from '../parts/values/moments.tsx'
import { chainTexts } from '../texts-chains.ts'

const words = chainTexts.lists

const states = ['PENDING', 'FAILED', 'FINALIZED'] as const

/** The list of all stored transactions, filtered by state. */
export const page = listPage(document, 'transactions', {
  title: words.transactions,
  empty: words.noTransactions,
  emptyIfFiltered: words.noMatchingTransactions,
  filter: (query) => ({ state: oneOf(states, query.get('state')) }),
  Filters: ({ place }) => (
    <Choice place={place} by="state" label={words.byState} values={words.states} />
  ),
  columns: [
    transactionColumn,
    stateColumn,
    { head: words.slot, cell: ({ slot }) => <SlotLink of={slot} /> },
    partiesColumn,
    amountColumn(words.amount, ({ changes }) => changes && movedBy(changes)),
  ],
})

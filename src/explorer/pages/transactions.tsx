import { document, type TransactionsPageData } from '../../generated/explorer/transactions.ts'
import { definePage, type PageViewProps } from '../page.tsx'
import { Amount } from '../parts/amount.tsx'
import { Id } from '../parts/id.tsx'
import { List } from '../parts/list.tsx'
import { MilestoneLink } from '../parts/moments.tsx'
import { Choice, oneOf } from '../parts/paging.tsx'
import { movedBy, Parties } from '../parts/parties.tsx'
import { State } from '../parts/state.tsx'
import type { Column } from '../parts/table.tsx'
import { afterIn } from '../router.ts'
import { chainTexts } from '../texts-chains.ts'

/** The list of all stored transactions, filtered by state. */

type Transaction = NonNullable<TransactionsPageData['transactions']>['nodes'][number]

const words = chainTexts.lists

const states = ['PENDING', 'FAILED', 'FINALIZED'] as const

export const page = definePage({
  document,
  variables: (place) => ({
    state: oneOf(states, place.query.get('state')),
    ...afterIn(place),
  }),
  title: () => words.transactions,
  live: () => 'MILESTONES',
  View: TransactionsPage,
})

function TransactionsPage({ data: { transactions }, place }: PageViewProps<TransactionsPageData>) {
  return (
    <List
      title={words.transactions}
      of={transactions}
      columns={columns}
      empty={words.noTransactions}
      place={place}
    >
      <Choice place={place} by="state" label={words.byState} values={words.states} />
    </List>
  )
}

const columns: readonly Column<Transaction>[] = [
  {
    head: words.transaction,
    cell: ({ transactionId }) => <Id of="transaction" id={transactionId} />,
  },
  { head: words.state, cell: ({ state }) => <State of={state} /> },
  { head: words.slot, cell: ({ slot }) => <MilestoneLink of={slot} /> },
  { head: words.parties, cell: ({ changes }) => <Parties of={changes ?? []} /> },
  {
    head: words.amount,
    cell: ({ changes }) => (changes === null ? '–' : <Amount value={movedBy(changes)} isBare />),
    isNumber: true,
  },
]

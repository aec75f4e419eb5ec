import { document, type TransactionsPageData } from '../../generated/explorer/transactions.ts'
import { grouped } from '../format.ts'
import { definePage, type PageViewProps } from '../page.tsx'
import { Amount } from '../parts/amount.tsx'
import { Id } from '../parts/id.tsx'
import { afterOf, Pager } from '../parts/pager.tsx'
import { movedBy, Parties } from '../parts/parties.tsx'
import { State } from '../parts/state.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { texts } from '../texts.ts'

/** All transactions that are kept, the newest first. */

type Transaction = NonNullable<TransactionsPageData['transactions']>['nodes'][number]

export const page = definePage({
  document,
  variables: afterOf,
  title: () => texts.home.transactions,
  // An older page does not move.
  live: (_, { query }) => (query.has('after') ? 'NEVER' : 'MILESTONES'),
  View: TransactionsPage,
})

function TransactionsPage({ data: { transactions }, place }: PageViewProps<TransactionsPageData>) {
  return (
    <>
      <h1>{texts.home.transactions}</h1>
      <Table
        caption={texts.home.transactions}
        rows={transactions?.nodes ?? []}
        keyOf={({ id }) => id}
        columns={columns}
        empty={transactions === null ? texts.states.notOffered : texts.home.noTransactions}
        isLive
      />
      <Pager place={place} info={transactions?.pageInfo} />
    </>
  )
}

const columns: readonly Column<Transaction>[] = [
  {
    head: texts.home.transaction,
    cell: ({ transactionId }) => <Id of="transaction" id={transactionId} />,
  },
  { head: texts.home.state, cell: ({ state }) => <State of={state} /> },
  {
    head: texts.address.when,
    cell: ({ milestone, slot }) =>
      milestone === null ? (
        `${texts.status.slot} ${grouped(slot)}`
      ) : (
        <Time at={milestone.endedAt} />
      ),
  },
  { head: texts.home.parties, cell: ({ changes }) => <Parties of={changes ?? []} /> },
  {
    head: texts.home.amount,
    cell: ({ changes }) =>
      changes === null || changes.length === 0 ? '–' : <Amount value={movedBy(changes)} isBare />,
    isNumber: true,
  },
]

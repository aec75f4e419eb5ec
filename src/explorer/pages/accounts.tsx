import { type AccountsPageData, document } from '../../generated/explorer/accounts.ts'
import { grouped } from '../format.ts'
import { definePage, type PageViewProps } from '../page.tsx'
import { Amount } from '../parts/amount.tsx'
import { Credits } from '../parts/credits.tsx'
import { Id } from '../parts/id.tsx'
import { List } from '../parts/list.tsx'
import type { Column } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { afterIn } from '../router.ts'
import { chainTexts } from '../texts-chains.ts'

/** The list of existing accounts, most recently changed first. */

type Account = NonNullable<AccountsPageData['accounts']>['nodes'][number]

const words = chainTexts.lists

export const page = definePage({
  document,
  variables: afterIn,
  title: () => words.accounts,
  View: AccountsPage,
})

function AccountsPage({ data: { accounts }, place }: PageViewProps<AccountsPageData>) {
  return (
    <List
      title={words.accounts}
      of={accounts}
      columns={columns}
      empty={words.noAccounts}
      place={place}
    />
  )
}

const columns: readonly Column<Account>[] = [
  { head: words.account, cell: ({ accountId }) => <Id of="account" id={accountId} /> },
  {
    head: words.changed,
    cell: ({ lastOutput }) => (lastOutput === null ? '–' : <Time at={lastOutput.bookedAt} />),
  },
  {
    head: words.credits,
    cell: ({ entry }) => (entry === null ? '–' : <Credits of={entry.credits} />),
    isNumber: true,
  },
  {
    head: words.stake,
    cell: ({ entry }) =>
      entry === null || entry.validatorStake === '0' ? (
        '–'
      ) : (
        <Amount value={entry.validatorStake} isBare />
      ),
    isNumber: true,
  },
  {
    head: words.foundries,
    cell: ({ foundryCounter }) => grouped(foundryCounter),
    isNumber: true,
  },
  {
    head: words.holds,
    cell: ({ lastOutput }) =>
      lastOutput === null ? '–' : <Amount value={lastOutput.amount} isBare />,
    isNumber: true,
  },
]

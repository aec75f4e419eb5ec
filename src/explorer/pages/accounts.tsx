import { document } from '../../generated/explorer/accounts.ts'
import { grouped } from '../format.ts'
import { listPage } from '../list-page.tsx'
import { amountColumn, idColumn, timeColumn } from '../parts/tables/columns.tsx'
import { Credits } from '../parts/values/credits.tsx'
import { chainTexts } from '../texts-chains.ts'

const words = chainTexts.lists

/** The list of existing accounts, most recently changed first. */
export const page = listPage(document, 'accounts', {
  title: words.accounts,
  empty: words.noAccounts,
  columns: [
    idColumn(words.account, 'account', ({ accountId }) => accountId),
    timeColumn(words.changed, ({ lastOutput }) => lastOutput?.bookedAt),
    {
      head: words.credits,
      cell: ({ entry }) => (entry === null ? '–' : <Credits of={entry.credits} />),
      isNumber: true,
    },
    amountColumn(words.stake, ({ entry }) =>
      entry?.validatorStake === '0' ? null : entry?.validatorStake,
    ),
    {
      head: words.foundries,
      cell: ({ foundryCounter }) => grouped(foundryCounter),
      isNumber: true,
    },
    amountColumn(words.holds, ({ lastOutput }) => lastOutput?.amount),
  ],
})

import { document, type TokensPageData } from '../../generated/explorer/tokens.ts'
import { definePage, type PageViewProps } from '../page.tsx'
import { Id } from '../parts/id.tsx'
import { List } from '../parts/list.tsx'
import { nameIn } from '../parts/metadata-rows.ts'
import { supplyColumns } from '../parts/supply.tsx'
import type { Column } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { afterIn } from '../router.ts'
import { chainTexts } from '../texts-chains.ts'

/** The list of native tokens with an existing foundry, most recently changed first. */

type Token = NonNullable<TokensPageData['tokens']>['nodes'][number]

const words = chainTexts.lists

export const page = definePage({
  document,
  variables: afterIn,
  title: () => words.tokens,
  View: TokensPage,
})

function TokensPage({ data: { tokens }, place }: PageViewProps<TokensPageData>) {
  return (
    <List title={words.tokens} of={tokens} columns={columns} empty={words.noTokens} place={place} />
  )
}

const columns: readonly Column<Token>[] = [
  { head: words.token, cell: ({ tokenId }) => <Id of="token" id={tokenId} /> },
  {
    head: words.name,
    cell: ({ immutableMetadata }) => (
      <span class="metadata-value">{nameIn(immutableMetadata?.entries) ?? '–'}</span>
    ),
  },
  {
    head: words.changed,
    cell: ({ lastOutput }) => (lastOutput === null ? '–' : <Time at={lastOutput.bookedAt} />),
  },
  { head: words.account, cell: ({ accountId }) => <Id of="account" id={accountId} /> },
  ...supplyColumns,
]

import { document, type TokensPageData } from '../../generated/explorer/tokens.ts'
import { listPage, type RowOf } from '../list-page.tsx'
import { idColumn, timeColumn } from '../parts/columns.tsx'
import { nameColumn } from '../parts/named.tsx'
import { supplyColumns } from '../parts/supply.tsx'
import type { Column } from '../parts/table.tsx'
import { chainTexts } from '../texts-chains.ts'

const words = chainTexts.lists

const columns: readonly Column<RowOf<TokensPageData['tokens']>>[] = [
  idColumn(words.token, 'token', ({ tokenId }) => tokenId),
  nameColumn,
  timeColumn(words.changed, ({ lastOutput }) => lastOutput?.bookedAt),
  idColumn(words.account, 'account', ({ accountId }) => accountId),
  ...supplyColumns,
]

/** The list of native tokens with an existing foundry, most recently changed first. */
export const page = listPage({
  document,
  title: words.tokens,
  list: ({ tokens }) => tokens,
  columns,
  empty: words.noTokens,
})

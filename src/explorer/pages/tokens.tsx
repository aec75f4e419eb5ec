import { document } from '../../generated/explorer/tokens.ts'
import { listPage } from '../list-page.tsx'
import { nameColumn } from '../parts/chains/named.tsx'
import { supplyColumns } from '../parts/chains/supply.tsx'
import { idColumn, timeColumn } from '../parts/tables/columns.tsx'
import { chainTexts } from '../texts-chains.ts'

const words = chainTexts.lists

/** The list of native tokens with an existing foundry, most recently changed first. */
export const page = listPage(document, 'tokens', {
  title: words.tokens,
  empty: words.noTokens,
  live: 'UPDATES',
  columns: [
    idColumn(words.token, 'token', ({ tokenId }) => tokenId),
    nameColumn,
    timeColumn(words.changed, ({ lastOutput }) => lastOutput?.bookedAt),
    idColumn(words.account, 'account', ({ accountId }) => accountId),
    ...supplyColumns,
  ],
})

import { document } from '../../generated/explorer/nfts.ts'
import { listPage } from '../list-page.tsx'
import { nameColumn } from '../parts/chains/named.tsx'
import { IssuerFilter } from '../parts/issuer-filter.tsx'
import { idColumn, timeColumn } from '../parts/tables/columns.tsx'
import { linkTo } from '../router.ts'
import { chainTexts } from '../texts-chains.ts'

const words = chainTexts.lists

/** The list of existing NFTs, most recently changed first; filtered by issuer it shows a collection. */
export const page = listPage(document, 'nfts', {
  title: words.nfts,
  empty: words.noNfts,
  emptyIfFiltered: words.noMatchingNfts,
  filter: (query) => ({ issuer: query.get('issuer') ?? undefined }),
  Filters: ({ place }) => <IssuerFilter place={place} of="address" />,
  columns: [
    idColumn(words.nft, 'nft', ({ nftId }) => nftId),
    nameColumn,
    timeColumn(words.changed, ({ lastOutput }) => lastOutput?.bookedAt),
    idColumn(words.owner, 'address', ({ owner }) => owner.bech32),
    {
      head: words.collection,
      cell: ({ issuer }) =>
        issuer === null ? (
          '–'
        ) : (
          <a href={linkTo('nfts', {}, { issuer: issuer.bech32 })}>{words.thisIssuer}</a>
        ),
    },
  ],
})

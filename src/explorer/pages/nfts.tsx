import { document, type NftsPageData } from '../../generated/explorer/nfts.ts'
import { definePage, type PageViewProps } from '../page.tsx'
import { Id } from '../parts/id.tsx'
import { List } from '../parts/list.tsx'
import { nameIn } from '../parts/metadata-rows.ts'
import { ActiveFilter } from '../parts/paging.tsx'
import type { Column } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { afterIn, linkTo } from '../router.ts'
import { chainTexts } from '../texts-chains.ts'

/** The list of existing NFTs, most recently changed first; filtered by issuer it shows a collection. */

type Nft = NonNullable<NftsPageData['nfts']>['nodes'][number]

const words = chainTexts.lists

export const page = definePage({
  document,
  variables: (place) => ({ issuer: place.query.get('issuer') ?? undefined, ...afterIn(place) }),
  title: () => words.nfts,
  View: NftsPage,
})

function NftsPage({ data: { nfts }, place }: PageViewProps<NftsPageData>) {
  const issuer = place.query.get('issuer')
  return (
    <List title={words.nfts} of={nfts} columns={columns} empty={words.noNfts} place={place}>
      {issuer !== null && (
        <ActiveFilter place={place} by="issuer">
          {words.issuedBy} <Id of="address" id={issuer} />
        </ActiveFilter>
      )}
    </List>
  )
}

const columns: readonly Column<Nft>[] = [
  { head: words.nft, cell: ({ nftId }) => <Id of="nft" id={nftId} /> },
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
  { head: words.owner, cell: ({ owner }) => <Id of="address" id={owner.bech32} /> },
  {
    head: words.collection,
    cell: ({ issuer }) =>
      issuer === null ? (
        '–'
      ) : (
        <a href={linkTo('nfts', {}, { issuer: issuer.bech32 })}>{words.thisIssuer}</a>
      ),
  },
]

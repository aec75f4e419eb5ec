import { document, type NftPageData } from '../../generated/explorer/nft.ts'
import { grouped } from '../format.ts'
import { type ObjectViewProps, objectPage } from '../page.tsx'
import { ChainAddressFact, ChainHeading, ChainOutputFacts } from '../parts/chains/chain.tsx'
import { Media } from '../parts/chains/media.tsx'
import { MetadataSection } from '../parts/chains/metadata.tsx'
import { byName, headingOf } from '../parts/chains/named.tsx'
import { Fact, Facts } from '../parts/facts.tsx'
import { idColumn, timeColumn, transactionColumn } from '../parts/tables/columns.tsx'
import { nextOf, Paging } from '../parts/tables/paging.tsx'
import type { TableDefinition } from '../parts/tables/table.tsx'
import { TableSection } from '../parts/tables/table-section.tsx'
import { Id } from '../parts/values/id.tsx'
import { linkTo } from '../router.ts'
import { chainTexts } from '../texts-chains.ts'

/** The page of an NFT: its metadata and its owners. */

type Nft = NonNullable<NftPageData['nft']>
type NftState = Nft['history']['nodes'][number]

const words = chainTexts.nft

export const page = objectPage(document, 'nft', NftPage, {
  ...byName(words, ({ nft }: NftPageData) => nft),
})

function NftPage({ of: nft, place }: ObjectViewProps<NftPageData, 'nft'>) {
  const entries = nft.immutableMetadata?.entries ?? []
  return (
    <>
      <ChainHeading title={headingOf(nft, words)} id={nft.nftId} isDestroyed={nft.isDestroyed} />
      <p class="sentence">
        {nft.isDestroyed ? words.ownedLast : words.owned} <Id of="address" id={nft.owner.bech32} />
      </p>
      <Media of={entries} />
      <Facts>
        <Fact name={words.collection}>{nft.issuer !== null && <Collection of={nft.issuer} />}</Fact>
        <ChainAddressFact of={nft.address} />
        <ChainOutputFacts of={nft} />
      </Facts>
      <MetadataSection of={{ entries }} />
      <TableSection
        of={ownerTable}
        rows={nft.history.nodes}
        isLive
        aside={
          <span class="muted">{chainTexts.history.inAll(grouped(nft.history.totalCount))}</span>
        }
      >
        <Paging place={place} next={nextOf(nft.history)} />
      </TableSection>
    </>
  )
}

/** NFTs of the same issuer form a collection; often the issuer is an NFT itself. */
function Collection({ of: { bech32, chain } }: { readonly of: NonNullable<Nft['issuer']> }) {
  return (
    <>
      {chain?.__typename === 'Nft' ? (
        <Id of="nft" id={chain.chainId} />
      ) : (
        <Id of="address" id={bech32} />
      )}{' '}
      <a href={linkTo('nfts', {}, { issuer: bech32 })}>{words.others}</a>
    </>
  )
}

const ownerTable: TableDefinition<NftState> = {
  caption: words.owners,
  keyOf: ({ number }) => number,
  empty: chainTexts.history.none,
  columns: [
    { head: chainTexts.history.number, cell: ({ number }) => grouped(number) },
    timeColumn(chainTexts.history.when, ({ milestone }) => milestone?.endedAt),
    idColumn(chainTexts.owner, 'address', ({ output }) => output?.owner.bech32),
    transactionColumn,
  ],
}

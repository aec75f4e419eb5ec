import { document, type NftPageData } from '../../generated/explorer/nft.ts'
import { grouped, shortened } from '../format.ts'
import { byId, definePage, type PageViewProps } from '../page.tsx'
import { ChainAddressFact, ChainHeading, ChainOutputFacts } from '../parts/chain.tsx'
import { Fact, Facts, Section } from '../parts/facts.tsx'
import { Id } from '../parts/id.tsx'
import { Media } from '../parts/media.tsx'
import { Metadata } from '../parts/metadata.tsx'
import { nameIn } from '../parts/metadata-rows.ts'
import { nextOf, Paging } from '../parts/paging.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { linkTo } from '../router.ts'
import { chainTexts } from '../texts-chains.ts'

/** The page of an NFT: its metadata and its owners. */

type Nft = NonNullable<NftPageData['nft']>
type NftState = Nft['history']['nodes'][number]

const words = chainTexts.nft

export const page = definePage({
  document,
  ...byId(words),
  title: ({ parameters }, data) =>
    words.title(nameOf(data?.nft ?? null) ?? shortened(parameters.id ?? '')),
  isMissing: ({ nft }) => nft === null,
  View: NftPage,
})

function nameOf(nft: Nft | null): string | undefined {
  return nameIn(nft?.immutableMetadata?.entries)
}

function NftPage({ data: { nft }, place }: PageViewProps<NftPageData>) {
  if (nft === null) return null
  const name = nameOf(nft)
  const entries = nft.immutableMetadata?.entries ?? []
  return (
    <>
      <ChainHeading
        title={name === undefined ? words.heading : words.title(name)}
        id={nft.nftId}
        isDestroyed={nft.isDestroyed}
      />
      <p class="sentence">
        {nft.isDestroyed ? words.ownedLast : words.owned} <Id of="address" id={nft.owner.bech32} />
      </p>
      <Media of={entries} />
      <Facts>
        <Fact name={words.collection}>{nft.issuer !== null && <Collection of={nft.issuer} />}</Fact>
        <ChainAddressFact of={nft.address} />
        <ChainOutputFacts of={nft} />
      </Facts>
      <Section title={chainTexts.metadata.title}>
        <Metadata of={entries} />
      </Section>
      <Section
        title={words.owners}
        aside={
          <span class="muted">{chainTexts.history.inAll(grouped(nft.history.totalCount))}</span>
        }
      >
        <Table
          caption={words.owners}
          rows={nft.history.nodes}
          keyOf={({ number }) => number}
          columns={columns}
          empty={chainTexts.history.none}
          isLive
        />
        <Paging place={place} next={nextOf(nft.history.pageInfo)} />
      </Section>
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

const columns: readonly Column<NftState>[] = [
  { head: chainTexts.history.number, cell: ({ number }) => grouped(number) },
  {
    head: chainTexts.history.when,
    cell: ({ milestone }) => (milestone === null ? '–' : <Time at={milestone.endedAt} />),
  },
  {
    head: chainTexts.owner,
    cell: ({ output }) => (output === null ? '–' : <Id of="address" id={output.owner.bech32} />),
  },
  {
    head: chainTexts.history.transaction,
    cell: ({ transactionId }) => <Id of="transaction" id={transactionId} />,
  },
]

import { type AnchorPageData, document } from '../../generated/explorer/anchor.ts'
import { grouped } from '../format.ts'
import { byId, definePage, type PageViewProps } from '../page.tsx'
import { ChainAddressFact, ChainHeading, ChainOutputFacts } from '../parts/chain.tsx'
import { RecordFacts, Versions } from '../parts/chain-record.tsx'
import { Fact, Facts, Section } from '../parts/facts.tsx'
import { History } from '../parts/history.tsx'
import { Id } from '../parts/id.tsx'
import { Metadata } from '../parts/metadata.tsx'
import { linkTo } from '../router.ts'
import { chainTexts } from '../texts-chains.ts'

/** The page of an anchor: its state controller and governor, its chain record, and its states. */

const words = chainTexts.anchor

export const page = definePage({
  document,
  ...byId(words),
  isMissing: ({ anchor }) => anchor === null,
  // A chain record can change without a change of the ledger.
  live: () => 'MILESTONES',
  View: AnchorPage,
})

function AnchorPage({ data: { anchor }, place }: PageViewProps<AnchorPageData>) {
  if (anchor === null) return null
  const record = anchor.chainRecord
  return (
    <>
      <ChainHeading title={words.heading} id={anchor.anchorId} isDestroyed={anchor.isDestroyed} />
      <Facts>
        <Fact name={words.stateIndex}>{grouped(anchor.stateIndex)}</Fact>
        <Fact name={words.stateController}>
          <Id of="address" id={anchor.stateController.bech32} />
        </Fact>
        <Fact name={words.governor}>
          <Id of="address" id={anchor.governor.bech32} />
        </Fact>
        <Fact name={chainTexts.issuer}>
          {anchor.issuer !== null && <Id of="address" id={anchor.issuer.bech32} />}
        </Fact>
        <ChainAddressFact of={anchor.address} />
        <ChainOutputFacts of={anchor} />
      </Facts>
      <Section
        title={chainTexts.record.heading}
        aside={
          record !== null && (
            <a href={linkTo('chain', { id: record.chainId })}>{chainTexts.record.page}</a>
          )
        }
      >
        {record === null ? (
          <p class="empty">{chainTexts.record.notSet}</p>
        ) : (
          <>
            <RecordFacts of={record} />
            <Versions of={record.versions} />
          </>
        )}
      </Section>
      {anchor.stateMetadata !== null && (
        <Section title={chainTexts.metadata.state}>
          <Metadata of={anchor.stateMetadata.entries} title={chainTexts.metadata.state} />
        </Section>
      )}
      {anchor.immutableMetadata !== null && (
        <Section title={chainTexts.metadata.title}>
          <Metadata of={anchor.immutableMetadata.entries} />
        </Section>
      )}
      <History of={anchor.history} place={place} />
    </>
  )
}

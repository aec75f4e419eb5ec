import { type AnchorPageData, document } from '../../generated/explorer/anchor.ts'
import { grouped } from '../format.ts'
import { byId, type ObjectViewProps, objectPage } from '../page.tsx'
import { ChainAddressFact, ChainHeading, ChainOutputFacts } from '../parts/chains/chain.tsx'
import { RecordFacts, Versions } from '../parts/chains/chain-record.tsx'
import { History } from '../parts/chains/history.tsx'
import { MetadataSection } from '../parts/chains/metadata.tsx'
import { Fact, Facts, Section } from '../parts/facts.tsx'
import { IdFact } from '../parts/values/value-facts.tsx'
import { linkTo } from '../router.ts'
import { chainTexts } from '../texts-chains.ts'

/** The page of an anchor: its state controller and governor, its chain record, and its states. */

const words = chainTexts.anchor

export const page = objectPage(document, 'anchor', AnchorPage, {
  ...byId(words),
  // A chain record can change without a change of the ledger.
})

function AnchorPage({ of: anchor, place }: ObjectViewProps<AnchorPageData, 'anchor'>) {
  const record = anchor.chainRecord
  return (
    <>
      <ChainHeading title={words.heading} id={anchor.anchorId} isDestroyed={anchor.isDestroyed} />
      <Facts>
        <Fact name={words.stateIndex}>{grouped(anchor.stateIndex)}</Fact>
        <IdFact name={words.stateController} of="address" id={anchor.stateController.bech32} />
        <IdFact name={words.governor} of="address" id={anchor.governor.bech32} />
        <IdFact name={chainTexts.issuer} of="address" id={anchor.issuer?.bech32} />
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
      <MetadataSection of={anchor.stateMetadata} title={chainTexts.metadata.state} />
      <MetadataSection of={anchor.immutableMetadata} />
      <History of={anchor.history} place={place} />
    </>
  )
}

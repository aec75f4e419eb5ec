import { type ChainPageData, document } from '../../generated/explorer/chain.ts'
import { byId, type ObjectViewProps, objectPage } from '../page.tsx'
import { RecordFacts, Versions } from '../parts/chains/chain-record.tsx'
import { Fact, Facts, Section } from '../parts/facts.tsx'
import { Paging } from '../parts/tables/paging.tsx'
import { Id, PlainId } from '../parts/values/id.tsx'
import { cursorsIn } from '../router.ts'
import { chainTexts } from '../texts-chains.ts'

/** The page of a chain record: its access nodes, and all versions with their author and time. */

type Hit = ChainPageData['search']['hits'][number]

const words = chainTexts.record

export const page = objectPage(document, 'chainRecord', ChainPage, {
  ...byId(words),
  variables: (place) => ({ chainId: place.parameters.id ?? '', ...cursorsIn(place) }),
})

function ChainPage({
  of: record,
  data: { search },
  place,
}: ObjectViewProps<ChainPageData, 'chainRecord'>) {
  const { versions } = record
  const last = versions.edges[versions.edges.length - 2]
  return (
    <>
      <h1>{words.heading}</h1>
      <PlainId id={record.chainId} isSigned />
      <RecordFacts of={record} />
      <Facts>
        <Fact name={words.chain}>{chainIn(search.hits)}</Fact>
      </Facts>
      <Section title={words.versions}>
        <Versions of={versions} />
        <Paging place={place} next={versions.pageInfo.hasNextPage ? last?.cursor : null} />
      </Section>
    </>
  )
}

/** A link to the anchor or account with the id of the chain, if it is on this ledger. */
function chainIn(hits: readonly Hit[]) {
  for (const { thing } of hits) {
    if (thing.__typename === 'Anchor') return <Id of="anchor" id={thing.chainId} />
    if (thing.__typename === 'Account') return <Id of="account" id={thing.chainId} />
  }
  return <span class="muted">{words.elsewhere}</span>
}

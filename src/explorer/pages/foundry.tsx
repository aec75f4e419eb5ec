import { document, type FoundryPageData } from '../../generated/explorer/foundry.ts'
import { grouped } from '../format.ts'
import { byId, definePage, type PageViewProps } from '../page.tsx'
import { ChainHeading, ChainOutputFacts } from '../parts/chain.tsx'
import { Fact, Facts } from '../parts/facts.tsx'
import { History } from '../parts/history.tsx'
import { Id } from '../parts/id.tsx'
import { SupplyFacts } from '../parts/supply.tsx'
import { chainTexts } from '../texts-chains.ts'

/** The page of a foundry: its account, and each state with the minted and melted tokens. */

const words = chainTexts.foundry

export const page = definePage({
  document,
  ...byId(words),
  isMissing: ({ token }) => token === null,
  View: FoundryPage,
})

function FoundryPage({ data: { token }, place }: PageViewProps<FoundryPageData>) {
  if (token === null) return null
  return (
    <>
      <ChainHeading title={words.heading} id={token.tokenId} isDestroyed={token.isDestroyed} />
      <Facts>
        <Fact name={words.token}>
          <Id of="token" id={token.tokenId} />
        </Fact>
        <Fact name={chainTexts.account}>
          <Id of="account" id={token.accountId} />
        </Fact>
        <Fact name={chainTexts.serialNumber}>{grouped(token.serialNumber)}</Fact>
        <SupplyFacts of={token} />
        <ChainOutputFacts of={token} />
      </Facts>
      <History of={token.history} place={place} />
    </>
  )
}

import { document, type FoundryPageData } from '../../generated/explorer/foundry.ts'
import { grouped } from '../format.ts'
import { byId, type ObjectViewProps, objectPage } from '../page.tsx'
import { ChainHeading, ChainOutputFacts } from '../parts/chains/chain.tsx'
import { History } from '../parts/chains/history.tsx'
import { SupplyFacts } from '../parts/chains/supply.tsx'
import { Fact, Facts } from '../parts/facts.tsx'
import { IdFact } from '../parts/values/value-facts.tsx'
import { chainTexts } from '../texts-chains.ts'

/** The page of a foundry: its account, and each state with the minted and melted tokens. */

const words = chainTexts.foundry

export const page = objectPage(document, 'token', FoundryPage, {
  ...byId(words),
  live: () => 'UPDATES',
})

function FoundryPage({ of: token, place }: ObjectViewProps<FoundryPageData, 'token'>) {
  return (
    <>
      <ChainHeading title={words.heading} id={token.tokenId} isDestroyed={token.isDestroyed} />
      <Facts>
        <IdFact name={words.token} of="token" id={token.tokenId} />
        <IdFact name={chainTexts.account} of="account" id={token.accountId} />
        <Fact name={chainTexts.serialNumber}>{grouped(token.serialNumber)}</Fact>
        <SupplyFacts of={token} />
        <ChainOutputFacts of={token} />
      </Facts>
      <History of={token.history} place={place} />
    </>
  )
}

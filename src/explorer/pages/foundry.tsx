import { document, type FoundryPageData } from '../../generated/explorer/foundry.ts'
import { grouped, shortened } from '../format.ts'
import { definePage, type PageViewProps } from '../page.tsx'
import { Tokens } from '../parts/amount.tsx'
import { ChainHeading, ChainOutputFacts } from '../parts/chain.tsx'
import { Fact, Facts } from '../parts/facts.tsx'
import { History } from '../parts/history.tsx'
import { Id } from '../parts/id.tsx'
import { afterIn } from '../parts/paging.tsx'
import { chainTexts } from '../texts-chains.ts'

/** What mints a native token: its account, and each state with what was minted and melted. */

const words = chainTexts.foundry

export const page = definePage({
  document,
  variables: (place) => ({ id: place.parameters.id ?? '', ...afterIn(place) }),
  title: ({ parameters }) => words.title(shortened(parameters.id ?? '')),
  isMissing: ({ token }) => token === null,
  sought: ({ parameters }) => ({ kind: words.kind, id: parameters.id ?? '' }),
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
        <Fact name={chainTexts.token.minted}>
          <Tokens value={token.mintedTokens} />
        </Fact>
        <Fact name={chainTexts.token.melted}>
          <Tokens value={token.meltedTokens} />
        </Fact>
        <Fact name={chainTexts.token.maximum}>
          <Tokens value={token.maximumSupply} />
        </Fact>
        <ChainOutputFacts of={token} />
      </Facts>
      <History of={token.history} place={place} />
    </>
  )
}

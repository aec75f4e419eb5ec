import { chainTexts } from '../../texts-chains.ts'
import { tokensColumn } from '../tables/columns.tsx'
import type { Column } from '../tables/table.tsx'
import { TokensFact } from '../values/value-facts.tsx'

/** The supply of a native token. */

const words = chainTexts.token

interface Supply {
  readonly mintedTokens: string
  readonly meltedTokens: string
  readonly maximumSupply: string
}

/** The minted and melted tokens, and the maximum supply. */
export function SupplyFacts({ of: token }: { readonly of: Supply }) {
  return (
    <>
      <TokensFact name={words.minted} value={token.mintedTokens} />
      <TokensFact name={words.melted} value={token.meltedTokens} />
      <TokensFact name={words.maximum} value={token.maximumSupply} />
    </>
  )
}

interface Circulation {
  readonly circulatingSupply: string
  readonly maximumSupply: string
}

/** The last columns of a list of tokens. */
export const supplyColumns: readonly Column<Circulation>[] = [
  tokensColumn(chainTexts.lists.circulating, ({ circulatingSupply }) => circulatingSupply),
  tokensColumn(chainTexts.lists.maximum, ({ maximumSupply }) => maximumSupply),
]

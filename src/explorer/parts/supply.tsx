import { chainTexts } from '../texts-chains.ts'
import { Tokens } from './amount.tsx'
import { Fact } from './facts.tsx'
import type { Column } from './table.tsx'

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
      <Fact name={words.minted}>
        <Tokens value={token.mintedTokens} />
      </Fact>
      <Fact name={words.melted}>
        <Tokens value={token.meltedTokens} />
      </Fact>
      <Fact name={words.maximum}>
        <Tokens value={token.maximumSupply} />
      </Fact>
    </>
  )
}

interface Circulation {
  readonly circulatingSupply: string
  readonly maximumSupply: string
}

/** The last columns of a list of tokens. */
export const supplyColumns: readonly Column<Circulation>[] = [
  {
    head: chainTexts.lists.circulating,
    cell: ({ circulatingSupply }) => <Tokens value={circulatingSupply} />,
    isNumber: true,
  },
  {
    head: chainTexts.lists.maximum,
    cell: ({ maximumSupply }) => <Tokens value={maximumSupply} />,
    isNumber: true,
  },
]

import { Id } from './id.tsx'

/** A reference to an account, an anchor, an NFT, a delegation, or the token of a foundry. */
export interface ChainOf {
  readonly __typename: keyof typeof chainPages
  readonly chainId: string
}

/** The page of each kind of chain, by its GraphQL type. */
export const chainPages = {
  Account: 'account',
  Anchor: 'anchor',
  Delegation: 'delegation',
  Nft: 'nft',
  Token: 'token',
} as const

/** A link to the page of a chain. */
export function ChainId({ of: { __typename: type, chainId } }: { readonly of: ChainOf }) {
  return <Id of={chainPages[type]} id={chainId} />
}

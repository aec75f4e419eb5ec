import { Id } from './id.tsx'

/** An account, anchor, NFT, delegation, or the token of a foundry. */
export interface ChainOf {
  readonly __typename: keyof typeof chainPages
  readonly chainId: string
}

/** The page of each kind of chain, by the name of its type in the graph. */
export const chainPages = {
  Account: 'account',
  Anchor: 'anchor',
  Delegation: 'delegation',
  Nft: 'nft',
  Token: 'token',
} as const

/** A chain as a link to its page. */
export function ChainId({ of: { __typename: type, chainId } }: { readonly of: ChainOf }) {
  return <Id of={chainPages[type]} id={chainId} />
}

import type { ChainKind, ChainName } from '../ledger/chain-states.ts'
import type { IndexKey } from '../ledger/index-keys.ts'
import type { Hex } from '../lib/hex.ts'
import type { FoundryId, OutputId, SlotIndex } from '../protocol/primitives.ts'
import type { Between, PageOrder } from './list-contract.ts'
import type { AddressTotal, OutputRow } from './rows.ts'
import type { IdRange } from './search-contract.ts'

/** Reads of chains: accounts, anchors, foundries, NFTs and delegations, as of the newest committed slot. */
export interface ChainReader {
  /** The newest states of those of some chains that are known, destroyed ones too, with their outputs, in no order. One statement. */
  newestChainStates(chainIds: readonly Hex[]): Promise<NewestChainState[]>
  /** States of one chain, by their ordinals. */
  chainStates(chainId: Hex, part: Between, page: PageOrder): Promise<ChainStateRow[]>
  /** The chains whose ids lie in a range, each once, by id. An index look-up for each that is found. */
  chainIdsWithin(range: IdRange): Promise<Hex[]>
  /** The newest outputs of chains that are not destroyed, by their places. One index scan. */
  aliveChains(question: AliveChainsQuery): Promise<OutputRow[]>
  /** Who owns a native token, by the 32 bytes of how much, and by address where amounts are equal. */
  tokenHolders(tokenId: FoundryId, part: Between, page: PageOrder): Promise<AddressTotal[]>
}

/** An output that is or was a state of a chain. */
export interface ChainStateRow extends ChainName {
  /** Position among the states of the chain: dense, from 1. */
  readonly ordinal: number
  readonly bookedSlot: SlotIndex
  readonly outputId: OutputId
}

/** The newest state of a chain, as of the end of a committed slot. */
export interface NewestChainState extends ChainStateRow {
  readonly slot: SlotIndex
  readonly output: OutputRow
}

/** Which chains; positions are booked slots and output ids. */
export interface AliveChainsQuery extends Between, PageOrder {
  readonly kind: ChainKind
  /** Index keys that each must have; at most two. */
  readonly keys: readonly IndexKey[]
}

import type { ChainKind, ChainName } from '../../ledger/chain-states.ts'
import type { IndexKey } from '../../ledger/index-keys.ts'
import type { Hex } from '../../lib/hex.ts'
import type { FoundryId, OutputId, SlotIndex } from '../../protocol/primitives.ts'
import type { AddressTotal, OutputRow } from '../rows.ts'
import type { Between, PageOrder } from './list.ts'
import type { IdRange } from './search.ts'

/** Reads of chains (accounts, anchors, foundries, NFTs and delegations) at the newest committed slot. */
export interface ChainReader {
  /** The newest states of the known chains, including destroyed ones, with their outputs, in no particular order. One statement. */
  newestChainStates(chainIds: readonly Hex[]): Promise<NewestChainState[]>
  /** States of one chain, by ordinal. */
  chainStates(chainId: Hex, part: Between, page: PageOrder): Promise<ChainStateRow[]>
  /** The ids of chains in a range, each once, in order. One index lookup per chain found. */
  chainIdsWithin(range: IdRange): Promise<Hex[]>
  /** The newest outputs of chains that are not destroyed, by position. One index scan. */
  aliveChains(query: AliveChainsQuery): Promise<OutputRow[]>
  /** The owners of a native token, by amount as 32 bytes, and by address for equal amounts. */
  tokenHolders(tokenId: FoundryId, part: Between, page: PageOrder): Promise<AddressTotal[]>
}

/** An output that is or was a state of a chain. */
export interface ChainStateRow extends ChainName {
  /** Position among the states of the chain, counted from 1 without gaps. */
  readonly ordinal: number
  readonly bookedSlot: SlotIndex
  readonly outputId: OutputId
}

/** The newest state of a chain at the end of a committed slot. */
export interface NewestChainState extends ChainStateRow {
  readonly slot: SlotIndex
  readonly output: OutputRow
}

/** A query of chains. Positions are booked slots and output ids. */
export interface AliveChainsQuery extends Between, PageOrder {
  readonly kind: ChainKind
  /** Index keys that each chain must have; at most two. */
  readonly keys: readonly IndexKey[]
}

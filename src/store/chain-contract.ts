import type { ChainKind, ChainName } from '../ledger/chain-states.ts'
import type { IndexKey } from '../ledger/index-keys.ts'
import type { Hex } from '../lib/hex.ts'
import type { FoundryId, OutputId, SlotIndex } from '../protocol/primitives.ts'
import type { OutputRow } from './rows.ts'
import type { IdRange } from './search-contract.ts'

/** Reads of chains: accounts, anchors, foundries, NFTs and delegations, as of the newest committed slot. */
export interface ChainReader {
  /** The newest states of those of some chains that are known, destroyed ones too, in no order. One statement. */
  newestChainStates(chainIds: readonly Hex[]): Promise<ChainStateRow[]>
  /** States of one chain, by their ordinals. */
  chainStates(chainId: Hex, page: Interval<number>): Promise<ChainStateRow[]>
  /** The chains whose ids lie in a range, each once, by id. An index look-up for each that is found. */
  chainIdsWithin(range: IdRange): Promise<Hex[]>
  /** The newest outputs of chains that are not destroyed, by their places. One index scan. */
  aliveChains(question: AliveChainsQuery): Promise<OutputRow[]>
  /** Who owns a native token, by how much: `ascending` is the least first, and by address where amounts are equal. */
  tokenHolders(tokenId: FoundryId, page: Interval<HolderPosition>): Promise<TokenHolder[]>
}

/** An output that is or was a state of a chain. */
export interface ChainStateRow extends ChainName {
  /** Position among the states of the chain: dense, from 1. */
  readonly ordinal: number
  readonly bookedSlot: SlotIndex
  readonly outputId: OutputId
}

/** A part of a list by the positions around it, both excluded; `undefined` where the list itself ends. */
export interface Interval<P> {
  readonly above: P | undefined
  readonly below: P | undefined
  readonly order: 'ascending' | 'descending'
  readonly limit: number
}

/** Which chains. */
export interface AliveChainsQuery extends Interval<Pick<OutputRow, 'bookedSlot' | 'outputId'>> {
  readonly kind: ChainKind
  /** Index keys that each must have; at most two. */
  readonly keys: readonly IndexKey[]
  /** Only those without an expiration, which would give them to another owner. */
  readonly isUnexpiring: boolean
}

/** A place in the order of holders; there need be no holder. */
export interface HolderPosition {
  readonly total: bigint
  readonly address: Hex
}

/** An address and all that it owns of a native token. */
export type TokenHolder = HolderPosition

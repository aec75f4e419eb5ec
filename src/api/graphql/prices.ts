import { defaultPageSize, maximumPageSize } from '../../service/updates/list-ledger-updates.ts'

/** What fields cost; `cost.ts` sums them up, and says what one is. */

/** A page, or a field that holds one, counts as many items as are asked for. */
export function pageCost({ first, last }: PageArgs): Price {
  const asked = Math.min(first ?? last ?? defaultPageSize, last ?? maximumPageSize, maximumPageSize)
  return itemsCost(Math.max(1, asked))
}

/** Items that are read, each by itself. */
export function itemsCost(items: number): Price {
  return { field: items * itemCost, multiplier: items }
}

const itemCost = 10

interface PageArgs {
  readonly first?: number | null | undefined
  readonly last?: number | null | undefined
}

/** The price of a field, and how often it holds what is selected below it. */
export interface Price {
  readonly field: number
  readonly multiplier: number
}

/** The outputs that a transaction spends or creates: at most 128 of each. */
export const outputsCost = itemsCost(128)

/** The prices of fields that are no page and dearer than one. */
export const fieldCost = {
  /** Bytes of an output, or other text that is mostly some hundred bytes long; the longest are counted when they come. */
  bytes: 10,
  /** A serialized block as text, 65 KB. */
  blockBytes: 2_048,
  /** Up to 1,000 texts of 256 characters. */
  accessNodes: 100,
  /** Decoding a block. */
  block: 500,
  /** Decoding, hashing and checking signatures of a block or transaction in an argument. */
  judgement: 2_500,
  /** A transaction is decoded and hashed with all its outputs, for one of them or for all. */
  proof: 250,
  /** Up to 10,000 outputs are read and decoded. */
  mana: 25_000,
  /** A field of introspection. All of them are resolved in one go, while everything else waits. */
  introspection: 15,
} as const

import { LRUCache } from 'lru-cache'
import type { Hex } from '../../lib/hex.ts'
import type { FoundryId } from '../../protocol/primitives.ts'
import type { TransactionRow } from '../../store/rows.ts'

/** What transactions moved, kept for those that are asked for often: else its block and each output that it spends is read and decoded. */

/** Amounts in both directions. */
export interface Flow {
  readonly sent: bigint
  readonly received: bigint
}

/** What an address gave and was given, base tokens and native tokens. */
export interface AddressChange extends Flow {
  readonly address: Hex
  /** In the order in which they were met. */
  readonly tokens: readonly (Flow & { readonly tokenId: FoundryId })[]
}

/** The changes of transactions that were asked for lately; those of a committed one never change. */
export interface KeptChanges {
  get(transaction: Placed): readonly AddressChange[] | undefined
  /** Keeps them, where the transaction is committed. */
  set(transaction: Placed, changes: readonly AddressChange[]): void
}

/** The id binds what it says, and its slot what had expired. */
type Placed = Pick<TransactionRow, 'transactionId' | 'slot' | 'state'>

/** A cache of about 8 MiB. */
export function createKeptChanges(): KeptChanges {
  const kept = new LRUCache<string, readonly AddressChange[]>({
    maxSize: 8 * 1024 * 1024,
    sizeCalculation: (changes) =>
      changes.reduce((size, { tokens }) => size + 400 + 400 * tokens.length, 400),
  })
  const keyOf = ({ transactionId, slot }: Placed) => `${transactionId} ${slot}`
  const isCommitted = ({ state }: Placed) => state === 'COMMITTED' || state === 'FINALIZED'
  return {
    get: (transaction) => (isCommitted(transaction) ? kept.get(keyOf(transaction)) : undefined),
    set: (transaction, changes) => {
      if (isCommitted(transaction)) kept.set(keyOf(transaction), changes)
    },
  }
}

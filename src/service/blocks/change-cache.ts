import { LRUCache } from 'lru-cache'
import type { Hex } from '../../lib/hex.ts'
import type { FoundryId } from '../../protocol/primitives.ts'
import type { TransactionRow } from '../../store/rows.ts'

/** Cache of the changes of transactions. Without it, each request reads and decodes the block and every spent output. */

/** Amounts that an address sent and received. */
export interface Flow {
  readonly sent: bigint
  readonly received: bigint
}

/** Base tokens and native tokens that an address sent and received. */
export interface AddressChange extends Flow {
  readonly address: Hex
  /** Native tokens, in the order of their first occurrence in inputs and outputs. */
  readonly tokens: readonly (Flow & { readonly tokenId: FoundryId })[]
}

/** The changes of recently requested transactions. The changes of a committed transaction are final. */
export interface ChangeCache {
  get(transaction: Placed): readonly AddressChange[] | undefined
  /** Caches the changes if the transaction is committed. */
  set(transaction: Placed, changes: readonly AddressChange[]): void
}

/** The id fixes the content of a transaction, and the slot fixes which inputs had expired. */
type Placed = Pick<TransactionRow, 'transactionId' | 'slot' | 'state'>

/** Creates a cache of about 8 MiB. */
export function createChangeCache(): ChangeCache {
  const cache = new LRUCache<string, readonly AddressChange[]>({
    maxSize: 8 * 1024 * 1024,
    sizeCalculation: (changes) =>
      changes.reduce((size, { tokens }) => size + 400 + 400 * tokens.length, 400),
  })
  const keyOf = ({ transactionId, slot }: Placed) => `${transactionId} ${slot}`
  const isCommitted = ({ state }: Placed) => state === 'COMMITTED' || state === 'FINALIZED'
  return {
    get: (transaction) => (isCommitted(transaction) ? cache.get(keyOf(transaction)) : undefined),
    set: (transaction, changes) => {
      if (isCommitted(transaction)) cache.set(keyOf(transaction), changes)
    },
  }
}

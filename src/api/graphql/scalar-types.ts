import type { Hex } from '../../lib/hex.ts'
import type {
  AccountId,
  AnchorId,
  BlockId,
  CommitmentId,
  DelegationId,
  FoundryId,
  NftId,
  OutputId,
  TransactionId,
} from '../../protocol/primitives.ts'

/** In memory and on the wire of GraphQL, for every scalar of the schema. */
// An alias, because an interface has no index signature and the builder asks for one.
export type ScalarTypes = {
  UInt32: Both<number>
  UInt64: Both<bigint>
  UInt256: Both<bigint>
  Int64: Both<bigint>
  Hex: Both<Hex>
  JSON: Both<unknown>
  /** Unix time in milliseconds. */
  DateTime: Both<number>
  BlockId: Both<BlockId>
  TransactionId: Both<TransactionId>
  CommitmentId: Both<CommitmentId>
  OutputId: Both<OutputId>
  AccountId: Both<AccountId>
  AnchorId: Both<AnchorId>
  NftId: Both<NftId>
  DelegationId: Both<DelegationId>
  FoundryId: Both<FoundryId>
}

interface Both<T> {
  Input: T
  Output: T
}

import type { Hex } from '../../lib/hex.ts'
import {
  AccountId,
  AnchorId,
  BlockId,
  CommitmentId,
  DelegationId,
  FoundryId,
  type Id,
  NftId,
  OutputId,
  TransactionId,
} from '../../protocol/primitives.ts'

/** The identifiers. Each kind has a fixed length and a scalar of its own. */
export const ids = {
  BlockId,
  TransactionId,
  CommitmentId,
  OutputId,
  AccountId,
  AnchorId,
  NftId,
  DelegationId,
  FoundryId,
}

/** Types of the scalars in resolvers: as input and as output. */
// An alias, because an interface has no index signature and the builder requires one.
export type ScalarTypes = {
  UInt32: Both<number>
  /** Counts are numbers in resolvers. */
  UInt64: { Input: bigint; Output: bigint | number }
  UInt256: Both<bigint>
  Int64: Both<bigint>
  Hex: Both<Hex>
  UInt128: Both<bigint>
  JSON: Both<unknown>
  /** Unix time in milliseconds. */
  DateTime: Both<number>
} & { [K in keyof typeof ids]: Both<Id<K>> }

interface Both<T> {
  Input: T
  Output: T
}

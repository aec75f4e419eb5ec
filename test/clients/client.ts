import { initGraphQLTada } from 'gql.tada'
import type { introspection } from './generated/schema.d.ts'

/** A client whose documents have types. The scalars are those of JSON. */
export const graphql = initGraphQLTada<{
  introspection: introspection
  scalars: {
    AccountId: string
    AnchorId: string
    BlockId: string
    CommitmentId: string
    DateTime: string
    DelegationId: string
    FoundryId: string
    Hex: string
    Int64: string
    JSON: unknown
    NftId: string
    OutputId: string
    TransactionId: string
    UInt32: number
    UInt64: string
    UInt128: string
    UInt256: string
  }
}>()

/** JSON types of the scalars of the schema, for code generators. */

/** The type of each scalar, for the option `scalars` of a code generator. Amounts are decimal text: `BigInt(text)` parses one. */
export const scalars = {
  AccountId: 'string',
  AnchorId: 'string',
  BlockId: 'string',
  CommitmentId: 'string',
  DateTime: 'string',
  DelegationId: 'string',
  FoundryId: 'string',
  Hex: 'string',
  Int64: 'string',
  JSON: 'unknown',
  NftId: 'string',
  OutputId: 'string',
  TransactionId: 'string',
  UInt32: 'number',
  UInt64: 'string',
  UInt128: 'string',
  UInt256: 'string',
} as const

/** The scalars as types, for gql.tada. */
export type Scalars = {
  readonly [Name in keyof typeof scalars]: {
    string: string
    number: number
    unknown: unknown
  }[(typeof scalars)[Name]]
}

import { builder } from './builder.ts'

type IdType =
  | 'AccountId'
  | 'AnchorId'
  | 'BlockId'
  | 'DelegationId'
  | 'FoundryId'
  | 'NftId'
  | 'OutputId'
  | 'TransactionId'

/** Returns the required argument `id` of a field that finds one object. `noun` names the object in the description. */
export function idArgs<const T extends IdType>(type: T, noun: string) {
  return builder.args((t) => ({
    id: t.field({ type, required: true, description: `The id of the ${noun}.` }),
  }))
}

import { Address } from './addresses.ts'
import { orPublicKeys } from './json-aliases.ts'
import { BaseToken, EpochIndex, FoundryId, Hash, SlotIndex, u256 } from './primitives.ts'
import type { AnyVariant } from './schema/composites.ts'
import { list, restrictedUnion, union, variant } from './schema/declare.ts'
import { metadataMap } from './schema/metadata-map.ts'
import type { RefusalCode } from './schema/refusal.ts'
import { bytes } from './schema/scalars.ts'
import { about, type Infer } from './schema/schema.ts'

/** The features of outputs (codec reference 8). */

export const Sender = about(
  'sender of the output; the transaction that created the output unlocked this address',
  variant('SenderFeature', 0, { address: about('address of the sender', Address) }),
)
export interface Sender extends Infer<typeof Sender> {}

export const Issuer = about(
  'issuer of the chain; the transaction that created the chain unlocked this address',
  variant('IssuerFeature', 1, { address: about('address of the issuer', Address) }),
)
export interface Issuer extends Infer<typeof Issuer> {}

const entries = about('1 to 255 entries by key, at most 8192 bytes in total', metadataMap())

export const Metadata = about('arbitrary metadata', variant('MetadataFeature', 2, { entries }))
export interface Metadata extends Infer<typeof Metadata> {}

export const StateMetadata = about(
  'metadata that only the state controller of an anchor may change',
  variant('StateMetadataFeature', 3, { entries }),
)
export interface StateMetadata extends Infer<typeof StateMetadata> {}

export const Tag = about(
  'a tag by which the output can be found',
  variant('TagFeature', 4, {
    tag: bytes('Tag', {
      count: 'u8',
      min: 1,
      max: 64,
      length: 'FEATURE_TAG_LENGTH',
      about: 'the tag, 1 to 64 bytes',
    }),
  }),
)
export interface Tag extends Infer<typeof Tag> {}

export const NativeToken = about(
  'native tokens in the output',
  variant(
    'NativeTokenFeature',
    5,
    {
      id: about('foundry of the tokens', FoundryId),
      amount: about('number of tokens, above 0', u256),
    },
    {
      check: ({ amount }) =>
        amount === 0n ? { rule: 'FEATURE_NATIVE_TOKEN_ZERO', at: ['amount'] } : undefined,
    },
  ),
)
export interface NativeToken extends Infer<typeof NativeToken> {}

export const BlockIssuerKey = about(
  'a key that may sign blocks of the account',
  variant('Ed25519PublicKeyHashBlockIssuerKey', 0, {
    pubKeyHash: about('BLAKE2b-256 of the Ed25519 public key', Hash),
  }),
)
export interface BlockIssuerKey extends Infer<typeof BlockIssuerKey> {}

export const BlockIssuer = about(
  'the account may issue blocks',
  variant('BlockIssuerFeature', 6, {
    expirySlot: about('last slot in which the account may issue blocks', SlotIndex),
    blockIssuerKeys: about(
      'the keys, sorted by bytes',
      orPublicKeys(
        list('u8', union('BlockIssuerKey', BlockIssuerKey), {
          min: 1,
          max: 128,
          size: 'FEATURE_ISSUER_KEYS_COUNT',
          order: {
            by: (a, b) => (a.pubKeyHash < b.pubKeyHash ? -1 : a.pubKeyHash > b.pubKeyHash ? 1 : 0),
            rule: 'FEATURE_ISSUER_KEYS_ORDER',
          },
        }),
      ),
    ),
  }),
)
export interface BlockIssuer extends Infer<typeof BlockIssuer> {}

export const Staking = about(
  'the account stakes as a validator',
  variant('StakingFeature', 7, {
    stakedAmount: about('base tokens that are locked and staked', BaseToken),
    fixedCost: about(
      'mana that the validator keeps of the reward of its pool before the rest is shared',
      BaseToken,
    ),
    startEpoch: about('first epoch of the stake', EpochIndex),
    endEpoch: about('last epoch of the stake', EpochIndex),
  }),
)
export interface Staking extends Infer<typeof Staking> {}

export const allFeatures = [
  Sender,
  Issuer,
  Metadata,
  StateMetadata,
  Tag,
  NativeToken,
  BlockIssuer,
  Staking,
] as const
export type Feature = Infer<(typeof allFeatures)[number]>

/** The list of the features of an output: only the allowed kinds, sorted by type. */
export function features<V extends readonly AnyVariant[]>(...allowed: V) {
  return about(
    'features of the output: at most one of each kind, sorted by type',
    featureList({ allowed: 'OUTPUT_FEATURES_ALLOWED', order: 'OUTPUT_FEATURES_ORDER' }, ...allowed),
  )
}

/** The list of the immutable features of an output: only the allowed kinds, sorted by type. */
export function immutableFeatures<V extends readonly AnyVariant[]>(...allowed: V) {
  return about(
    'features that never change as long as the chain exists: at most one of each kind, sorted by type',
    featureList(
      { allowed: 'OUTPUT_IMMUTABLE_FEATURES_ALLOWED', order: 'OUTPUT_IMMUTABLE_FEATURES_ORDER' },
      ...allowed,
    ),
  )
}

function featureList<V extends readonly AnyVariant[]>(
  rules: { readonly allowed: RefusalCode; readonly order: RefusalCode },
  ...allowed: V
) {
  const kinds = restrictedUnion(
    'Feature',
    { family: () => allFeatures, rule: rules.allowed },
    ...allowed,
  )
  return list<Infer<V[number]>>('u8', kinds, {
    max: 255,
    size: rules.order,
    order: { by: (a, b) => a.type - b.type, rule: rules.order },
    omitEmpty: true,
  })
}

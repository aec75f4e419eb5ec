import { Address } from './addresses.ts'
import { orPublicKeys } from './json-aliases.ts'
import { BaseToken, EpochIndex, FoundryId, Hash, SlotIndex, u256 } from './primitives.ts'
import type { AnyVariant } from './schema/composites.ts'
import { list, restrictedUnion, union, variant } from './schema/declare.ts'
import { metadataMap } from './schema/metadata-map.ts'
import type { RefusalCode } from './schema/refusal.ts'
import { bytes } from './schema/scalars.ts'
import { about, type Infer } from './schema/schema.ts'

/** What an output carries besides its amount (codec reference 8). */

export const Sender = about(
  'who sent the output; that address was unlocked in the creating transaction',
  variant('SenderFeature', 0, { address: about('who sent it', Address) }),
)
export interface Sender extends Infer<typeof Sender> {}

export const Issuer = about(
  'who issued the chain; that address was unlocked when the chain began',
  variant('IssuerFeature', 1, { address: about('who issued it', Address) }),
)
export interface Issuer extends Infer<typeof Issuer> {}

const entries = about('1 to 255 entries by key, in all at most 8192 bytes', metadataMap())

export const Metadata = about('free metadata', variant('MetadataFeature', 2, { entries }))
export interface Metadata extends Infer<typeof Metadata> {}

export const StateMetadata = about(
  'metadata that only the state controller of an anchor may change',
  variant('StateMetadataFeature', 3, { entries }),
)
export interface StateMetadata extends Infer<typeof StateMetadata> {}

export const Tag = about(
  'a tag to find the output by',
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
  'native tokens held by the output',
  variant(
    'NativeTokenFeature',
    5,
    { id: about('the foundry of the tokens', FoundryId), amount: about('how many, above 0', u256) },
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
    expirySlot: about('the last slot in which it may issue', SlotIndex),
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
    stakedAmount: about('base tokens locked and staked', BaseToken),
    fixedCost: about(
      'mana the validator takes of the reward of its pool before sharing',
      BaseToken,
    ),
    startEpoch: about('first epoch staked', EpochIndex),
    endEpoch: about('last epoch staked', EpochIndex),
  }),
)
export interface Staking extends Infer<typeof Staking> {}

/** All features. */
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

/** The list of an output's features: these kinds only, sorted by type. */
export function features<V extends readonly AnyVariant[]>(...allowed: V) {
  return about(
    'what the output carries besides: at most one of each kind, sorted by type',
    featureList({ allowed: 'OUTPUT_FEATURES_ALLOWED', order: 'OUTPUT_FEATURES_ORDER' }, ...allowed),
  )
}

/** The list of features that never change: these kinds only, sorted by type. */
export function immutableFeatures<V extends readonly AnyVariant[]>(...allowed: V) {
  return about(
    'what never changes through the life of the chain: at most one of each kind, sorted by type',
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

import type { Hex } from '../lib/hex.ts'
import { AccountId, AnchorId, Hash, NftId, u8, u16 } from './primitives.ts'
import type { AnyVariant, Check } from './schema/composites.ts'
import { list, restrictedUnion, struct, union, variant } from './schema/declare.ts'
import { bytes } from './schema/scalars.ts'
import { about, encode, type Infer } from './schema/schema.ts'

/** The seven kinds of addresses (codec reference 9). */

export const Ed25519Address = about(
  'address of an Ed25519 key',
  variant('Ed25519Address', 0, {
    pubKeyHash: about('BLAKE2b-256 of the Ed25519 public key', Hash),
  }),
)
export interface Ed25519Address extends Infer<typeof Ed25519Address> {}

export const AccountAddress = about(
  'address of an account',
  variant('AccountAddress', 8, { accountId: AccountId }),
)
export interface AccountAddress extends Infer<typeof AccountAddress> {}

export const NftAddress = about('address of an NFT', variant('NFTAddress', 16, { nftId: NftId }))
export interface NftAddress extends Infer<typeof NftAddress> {}

export const AnchorAddress = about(
  'address of an anchor',
  variant('AnchorAddress', 24, { anchorId: AnchorId }),
)
export interface AnchorAddress extends Infer<typeof AnchorAddress> {}

export const ImplicitAccountCreationAddress = about(
  'address of an Ed25519 key whose basic outputs are implicit accounts',
  variant('ImplicitAccountCreationAddress', 32, {
    pubKeyHash: about('BLAKE2b-256 of the Ed25519 public key', Hash),
  }),
)
export interface ImplicitAccountCreationAddress
  extends Infer<typeof ImplicitAccountCreationAddress> {}

const MultiMemberAddress = restrictedUnion(
  'Address',
  { family: allAddresses, rule: 'ADDRESS_MULTI_NESTED' },
  Ed25519Address,
  AccountAddress,
  NftAddress,
  AnchorAddress,
)

type MemberAddress = Infer<typeof MultiMemberAddress>

export const WeightedAddress = about(
  'a member of a multi address with its weight',
  struct(
    'WeightedAddress',
    {
      address: about('the address of the member', MultiMemberAddress),
      weight: about('weight of the unlock of this member, 1 to 255', u8),
    },
    ({ weight }) => (weight === 0 ? { rule: 'ADDRESS_MULTI_WEIGHT', at: ['weight'] } : undefined),
  ),
)
export interface WeightedAddress extends Infer<typeof WeightedAddress> {}

const thresholdReachable: Check<{
  readonly addresses: readonly WeightedAddress[]
  readonly threshold: number
}> = ({ addresses, threshold }) => {
  const sum = addresses.reduce((weights, { weight }) => weights + weight, 0)
  const reachable = threshold >= 1 && threshold <= sum
  return reachable ? undefined : { rule: 'ADDRESS_MULTI_THRESHOLD', at: ['threshold'] }
}

export const MultiAddress = about(
  'address of several members; unlocked when the weights of the unlocked members reach the threshold',
  variant(
    'MultiAddress',
    40,
    {
      addresses: about(
        'the members, sorted by the bytes of their addresses',
        list('u8', WeightedAddress, {
          min: 2,
          max: 10,
          size: 'ADDRESS_MULTI_COUNT',
          order: {
            by: (a, b) => compareMembers(a.address, b.address),
            rule: 'ADDRESS_MULTI_ORDER',
          },
        }),
      ),
      threshold: about('minimum sum of the unlocked weights, 1 to the sum of all weights', u16),
    },
    { check: thresholdReachable },
  ),
)
export interface MultiAddress extends Infer<typeof MultiAddress> {}

const RestrictableAddress = restrictedUnion(
  'Address',
  { family: allAddresses, rule: 'ADDRESS_RESTRICTED_NESTED' },
  Ed25519Address,
  AccountAddress,
  NftAddress,
  AnchorAddress,
  MultiAddress,
)

export const RestrictedAddress = about(
  'an address that accepts only some kinds of outputs',
  variant('RestrictedAddress', 48, {
    address: about('the address that is restricted', RestrictableAddress),
    allowedCapabilities: bytes('AddressCapabilities', {
      count: 'u8',
      max: 2,
      length: 'ADDRESS_CAPABILITIES_LENGTH',
      omitEmpty: true,
      about:
        'bit mask of what the address accepts, lowest bit first: native tokens, mana, timelock, expiration, storage deposit return, account, anchor, NFT, delegation',
      trailingZero: 'ADDRESS_CAPABILITIES_TRAILING_ZERO',
      brokenForSdk: (mask) =>
        hasBitFrom(mask, 9) ? 'ADDRESS_CAPABILITIES_UNKNOWN_BIT' : undefined,
    }),
  }),
)
export interface RestrictedAddress extends Infer<typeof RestrictedAddress> {}

/** Bytes of the longest address: a restricted multi address with ten members and two bytes of capabilities. */
export const maxAddressLength = 348

export const Address = union(
  'Address',
  Ed25519Address,
  AccountAddress,
  NftAddress,
  AnchorAddress,
  ImplicitAccountCreationAddress,
  MultiAddress,
  RestrictedAddress,
)
export type Address = Infer<typeof Address>

function allAddresses(): readonly AnyVariant[] {
  return Address.variants
}

/** Whether a bit mask has a set bit at position `bit` or higher. */
export function hasBitFrom(mask: Hex, bit: number): boolean {
  return maskBits(mask) >> bit !== 0
}

/** A mask of up to four bytes as a number; the first byte has the lowest bits. */
export function maskBits(mask: Hex): number {
  const pairs = mask.slice(2).match(/../g) ?? []
  return pairs.reduce((bits, pair, i) => bits + Number.parseInt(pair, 16) * 256 ** i, 0)
}

/** Compares two addresses by their bytes. */
function compareMembers(a: MemberAddress, b: MemberAddress): number {
  return Buffer.compare(encode(MultiMemberAddress, a), encode(MultiMemberAddress, b))
}

import type { Hex } from '../lib/hex.ts'
import { MultiAddress, RestrictedAddress } from '../protocol/addresses.ts'
import { NativeToken, Tag } from '../protocol/features.ts'
import { addressKey } from '../protocol/ids.ts'
import { is } from '../protocol/is.ts'
import { AnchorOutput, BasicOutput, type Output } from '../protocol/outputs.ts'
import type { OutputId, SlotIndex } from '../protocol/primitives.ts'
import { Expiration } from '../protocol/unlock-conditions.ts'
import { chainId, isImplicitAccount } from './chains.ts'
import { conditionOf, featureOf } from './output-parts.ts'
import { namedRoles, ownerAt, type Role, roles, rolesByAddress } from './updates.ts'

/** The index keys under which an unspent output is found. */

/**
 * The kinds of index keys:
 * - HOLDER: the address that holds the output now: its owner or state controller, or the return address after an expiration
 * - EXPIRING_OWNER: the owner of an output with an expiration, which has another holder after it
 * - a role: an address in any other role, as the output names it
 * - TAG: the tag
 * - NATIVE_TOKEN: the native token
 * - CHAIN: the id of the chain, or of the account that an implicit account will become
 * - CHAIN_HOLDER: the type code and the holder, for all kinds of outputs except basic outputs and anchors. It finds them quickly, because
 *   an address may hold any number of basic outputs.
 * - MULTI_OF_MEMBER: a member and its multi address. It finds the multi addresses of a member without their outputs.
 */
export type IndexKind =
  | 'HOLDER'
  | 'EXPIRING_OWNER'
  | Exclude<Role, 'OWNER'>
  | 'TAG'
  | 'NATIVE_TOKEN'
  | 'CHAIN'
  | 'CHAIN_HOLDER'
  | 'MULTI_OF_MEMBER'

/** A kind and a value: the key of an address, or the bytes of a tag or an id. */
export interface IndexKey {
  readonly kind: IndexKind
  readonly value: Hex
}

/** All index keys of an unspent output, without duplicates. */
export function indexKeysOf(outputId: OutputId, output: Output): IndexKey[] {
  const expires = conditionOf(output, Expiration) !== undefined
  const keys: IndexKey[] = expires ? [] : keysOfHolder(output, 0)
  for (const [value, held] of rolesByAddress(output)) {
    for (const role of held) {
      if (role !== 'OWNER') keys.push({ kind: role, value })
      else if (expires) keys.push({ kind: 'EXPIRING_OWNER', value })
    }
  }
  const tag = featureOf(output, Tag)?.tag
  if (tag !== undefined) keys.push({ kind: 'TAG', value: tag })
  const token = featureOf(output, NativeToken)?.id
  if (token !== undefined) keys.push({ kind: 'NATIVE_TOKEN', value: token })
  if (!is(BasicOutput, output) || isImplicitAccount(output)) {
    keys.push({ kind: 'CHAIN', value: chainId(output, outputId) })
  }
  return [...keys, ...multiKeysOf(output)]
}

/** The index keys of the members of multi addresses, each with its multi address. */
export function multiKeysOf(output: Output): IndexKey[] {
  return [...multiAddressesIn(output)].flatMap(([reference, { addresses }]) =>
    addresses.map(({ address }) => ({
      kind: 'MULTI_OF_MEMBER',
      value: `${addressKey(address)}${reference.slice(2)}` as const,
    })),
  )
}

/** The multi addresses that an output names, also inside of restricted addresses, by their references. */
export function multiAddressesIn(output: Output): ReadonlyMap<Hex, MultiAddress> {
  const found = namedRoles(output).flatMap(({ address }) => {
    const inner = is(RestrictedAddress, address) ? address.address : address
    return is(MultiAddress, inner) ? [[addressKey(inner), inner] as const] : []
  })
  return new Map(found)
}

/** The index keys of an address. Every output that names the address in any role, including its holder, has at least one of them. */
export function keysOfAddress(value: Hex): IndexKey[] {
  return namingKinds.map((kind) => ({ kind, value }))
}

const namingKinds = [
  'HOLDER',
  'EXPIRING_OWNER',
  ...roles.filter((role) => role !== 'OWNER' && role !== 'STATE_CONTROLLER'),
] as const

/** The additional index keys of an output with an expiration when all slots before `reached` have passed; empty for other outputs. */
export function expiringKeysOf(output: Output, reached: SlotIndex): IndexKey[] {
  return conditionOf(output, Expiration) === undefined ? [] : keysOfHolder(output, reached)
}

function keysOfHolder(output: Output, reached: SlotIndex): IndexKey[] {
  const value = addressKey(ownerAt(output, reached))
  const holder: IndexKey = { kind: 'HOLDER', value }
  return is(BasicOutput, output) || is(AnchorOutput, output)
    ? [holder]
    : [holder, chainHolderKey(output.type, value)]
}

/** The index key of the outputs of a kind that an address holds. */
export function chainHolderKey(
  type: Exclude<Output['type'], BasicOutput['type'] | AnchorOutput['type']>,
  address: Hex,
): IndexKey {
  return { kind: 'CHAIN_HOLDER', value: `0x0${type}${address.slice(2)}` }
}

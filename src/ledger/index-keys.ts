import type { Hex } from '../lib/hex.ts'
import { NativeToken, Tag } from '../protocol/features.ts'
import { addressKey } from '../protocol/ids.ts'
import { is } from '../protocol/is.ts'
import { BasicOutput, type Output } from '../protocol/outputs.ts'
import type { OutputId, SlotIndex } from '../protocol/primitives.ts'
import { AddressUnlock, Expiration, ImmutableAccount } from '../protocol/unlock-conditions.ts'
import { chainId, isImplicitAccount } from './chains.ts'
import { conditionOf, featureOf } from './output-parts.ts'
import { ownerAt, type Role, rolesByAddress } from './updates.ts'

/** What an unspent output can be found by. */

/**
 * An address in a role as the output names it; the address that holds it now, where an expiration decides that; the tag;
 * the native token; the id of the chain it is, or of the account it is to be; and of all but basic outputs the owner once
 * more, behind the type code, for an address may own any number of basic ones.
 */
export type IndexKind = Role | 'HOLDER' | 'TAG' | 'NATIVE_TOKEN' | 'CHAIN' | 'CHAIN_OWNER'

/** A term with its value: the key of an address, or the bytes of a tag or an id. */
export interface IndexKey {
  readonly kind: IndexKind
  readonly value: Hex
}

/** Everything an output can be found by but its holder; no term twice. */
export function indexKeysOf(outputId: OutputId, output: Output): IndexKey[] {
  const keys: IndexKey[] = []
  for (const [value, roles] of rolesByAddress(output)) {
    for (const term of roles) keys.push({ kind: term, value })
  }
  const tag = featureOf(output, Tag)?.tag
  if (tag !== undefined) keys.push({ kind: 'TAG', value: tag })
  const token = featureOf(output, NativeToken)?.id
  if (token !== undefined) keys.push({ kind: 'NATIVE_TOKEN', value: token })
  if (!is(BasicOutput, output) || isImplicitAccount(output)) {
    keys.push({ kind: 'CHAIN', value: chainId(output, outputId) })
  }
  const owner = conditionOf(output, AddressUnlock) ?? conditionOf(output, ImmutableAccount)
  if (!is(BasicOutput, output) && owner !== undefined) {
    keys.push(chainOwnerKey(output.type, addressKey(owner.address)))
  }
  return keys
}

/** By what the outputs of a kind are found that an address owns, whatever else it owns. */
export function chainOwnerKey(type: Exclude<Output['type'], 0>, address: Hex): IndexKey {
  return { kind: 'CHAIN_OWNER', value: `0x0${type}${address.slice(2)}` }
}

/**
 * Who holds an output that expires, once every slot below `reached` lies behind. All others are held by their OWNER or
 * STATE_CONTROLLER, and have no such term.
 */
export function holderKey(output: Output, reached: SlotIndex): IndexKey | undefined {
  if (conditionOf(output, Expiration) === undefined) return undefined
  return { kind: 'HOLDER', value: addressKey(ownerAt(output, reached)) }
}

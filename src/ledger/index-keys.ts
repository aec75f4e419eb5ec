import type { Hex } from '../lib/hex.ts'
import { NativeToken, Tag } from '../protocol/features.ts'
import { addressKey } from '../protocol/ids.ts'
import { is } from '../protocol/is.ts'
import { AnchorOutput, BasicOutput, type Output } from '../protocol/outputs.ts'
import type { OutputId, SlotIndex } from '../protocol/primitives.ts'
import { Expiration } from '../protocol/unlock-conditions.ts'
import { chainId, isImplicitAccount } from './chains.ts'
import { conditionOf, featureOf } from './output-parts.ts'
import { ownerAt, type Role, roles, rolesByAddress } from './updates.ts'

/** What an unspent output can be found by. */

/**
 * The address that holds it now: its owner or state controller, and of one that has expired the address it returns to; the
 * address of its owner, where it expires and has another holder then; an address in any other role as the output names it;
 * the tag; the native token; the id of the chain it is, or of the account it is to be; and of all but basic outputs and anchors the
 * holder once more, behind the type code, for an address may hold any number of basic ones.
 */
export type IndexKind =
  | 'HOLDER'
  | 'EXPIRING_OWNER'
  | Exclude<Role, 'OWNER'>
  | 'TAG'
  | 'NATIVE_TOKEN'
  | 'CHAIN'
  | 'CHAIN_HOLDER'

/** A kind with its value: the key of an address, or the bytes of a tag or an id. */
export interface IndexKey {
  readonly kind: IndexKind
  readonly value: Hex
}

/** Everything an output can be found by as long as it is unspent; no key twice. */
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
  return keys
}

/** What an output has at least one of that names an address in any role: who holds it is named. */
export function keysOfAddress(value: Hex): IndexKey[] {
  return namingKinds.map((kind) => ({ kind, value }))
}

const namingKinds = [
  'HOLDER',
  'EXPIRING_OWNER',
  ...roles.filter((role) => role !== 'OWNER' && role !== 'STATE_CONTROLLER'),
] as const

/** What an output that expires can be found by besides, once every slot below `reached` lies behind; nothing for all others. */
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

/** By what the outputs of a kind are found that an address holds, whatever else it holds. */
export function chainHolderKey(
  type: Exclude<Output['type'], BasicOutput['type'] | AnchorOutput['type']>,
  address: Hex,
): IndexKey {
  return { kind: 'CHAIN_HOLDER', value: `0x0${type}${address.slice(2)}` }
}

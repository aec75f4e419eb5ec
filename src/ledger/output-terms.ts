import type { Hex } from '../lib/hex.ts'
import { addressKey } from '../protocol/ids.ts'
import type { Output } from '../protocol/outputs.ts'
import type { OutputId, SlotIndex } from '../protocol/primitives.ts'
import { chainId, isImplicitAccount } from './chains.ts'
import { conditionOf, featureOf } from './output-parts.ts'
import { ownerAt, type Role, rolesByAddress } from './updates.ts'

/** What an unspent output can be found by. */

/**
 * An address in a role as the output names it; the address that holds it now, where an expiration decides that; the tag;
 * the native token; the id of the chain it is, or of the account it is to be.
 */
export type Term = Role | 'HOLDER' | 'TAG' | 'NATIVE_TOKEN' | 'CHAIN'

/** A term with its value: the key of an address, or the bytes of a tag or an id. */
export interface OutputTerm {
  readonly term: Term
  readonly value: Hex
}

/** Everything an output can be found by but its holder; no term twice. */
export function termsOf(outputId: OutputId, output: Output): OutputTerm[] {
  const terms: OutputTerm[] = []
  for (const [value, roles] of rolesByAddress(output)) {
    for (const term of roles) terms.push({ term, value })
  }
  const tag = featureOf(output, 4)?.tag
  if (tag !== undefined) terms.push({ term: 'TAG', value: tag })
  const token = featureOf(output, 5)?.id
  if (token !== undefined) terms.push({ term: 'NATIVE_TOKEN', value: token })
  if (output.type !== 0 || isImplicitAccount(output)) {
    terms.push({ term: 'CHAIN', value: chainId(output, outputId) })
  }
  return terms
}

/**
 * Who holds an output that expires, once every slot below `reached` lies behind. All others are held by their OWNER or
 * STATE_CONTROLLER, and have no such term.
 */
export function holderTerm(output: Output, reached: SlotIndex): OutputTerm | undefined {
  if (conditionOf(output, 3) === undefined) return undefined
  return { term: 'HOLDER', value: addressKey(ownerAt(output, reached)) }
}

import type { Address } from '../protocol/addresses.ts'
import type { Feature } from '../protocol/features.ts'
import type { Output } from '../protocol/outputs.ts'
import { featuresOf, immutableFeaturesOf } from '../protocol/score.ts'
import type { UnlockCondition } from '../protocol/unlock-conditions.ts'

/** The parts of an output by their kind: an output has at most one of each. */

/** The unlock condition of a kind. */
export function conditionOf<T extends UnlockCondition['type']>(
  output: Output,
  type: T,
): Extract<UnlockCondition, { readonly type: T }> | undefined {
  const conditions: readonly UnlockCondition[] = output.unlockConditions
  return conditions.find((one): one is Extract<UnlockCondition, { readonly type: T }> => {
    return one.type === type
  })
}

/** The feature of a kind. */
export function featureOf<T extends Feature['type']>(
  output: Output,
  type: T,
): Extract<Feature, { readonly type: T }> | undefined {
  return featuresOf(output).find((one): one is Extract<Feature, { readonly type: T }> => {
    return one.type === type
  })
}

/** The issuer among the immutable features. */
export function issuerOf(output: Output): Address | undefined {
  return immutableFeaturesOf(output).find((one) => one.type === 1)?.address
}

/** A restricted address stands for the one inside it: restrictions bind whoever sends to it. */
export function underlyingAddress(address: Address): Exclude<Address, { readonly type: 48 }> {
  return address.type === 48 ? address.address : address
}

/** Stored mana as of the creation slot; foundries and delegations hold none. */
export function storedManaOf(output: Output): bigint {
  return 'mana' in output ? output.mana : 0n
}

import { type Address, RestrictedAddress } from '../protocol/addresses.ts'
import { type allFeatures, type Feature, Issuer } from '../protocol/features.ts'
import { is, type KindOf } from '../protocol/is.ts'
import type { Output } from '../protocol/outputs.ts'
import { featuresOf, immutableFeaturesOf } from '../protocol/score.ts'
import type { allUnlockConditions, UnlockCondition } from '../protocol/unlock-conditions.ts'

/** The parts of an output by their kind: an output has at most one of each. */

/** The unlock condition of a kind. */
export function conditionOf<D extends (typeof allUnlockConditions)[number]>(
  output: Output,
  kind: D,
): KindOf<UnlockCondition, D> | undefined {
  const conditions: readonly UnlockCondition[] = output.unlockConditions
  return conditions.find((one) => is(kind, one))
}

/** The feature of a kind. */
export function featureOf<D extends (typeof allFeatures)[number]>(
  output: Output,
  kind: D,
): KindOf<Feature, D> | undefined {
  return featuresOf(output).find((one) => is(kind, one))
}

/** The issuer among the immutable features. */
export function issuerOf(output: Output): Address | undefined {
  return immutableFeaturesOf(output).find((one) => is(Issuer, one))?.address
}

/** The address inside a restricted one, which has the same owner: restrictions bind the sender. */
export function underlyingAddress(address: Address): Exclude<Address, RestrictedAddress> {
  return is(RestrictedAddress, address) ? address.address : address
}

/** Stored mana as of the creation slot; foundries and delegations hold none. */
export function storedManaOf(output: Output): bigint {
  return 'mana' in output ? output.mana : 0n
}

import { type Address, RestrictedAddress } from '../protocol/addresses.ts'
import { type allFeatures, type Feature, Issuer } from '../protocol/features.ts'
import { is, type KindOf } from '../protocol/is.ts'
import type { Output } from '../protocol/outputs.ts'
import type { OutputId } from '../protocol/primitives.ts'
import { featuresOf, immutableFeaturesOf } from '../protocol/score.ts'
import type { allUnlockConditions, UnlockCondition } from '../protocol/unlock-conditions.ts'

/** An output with its id, and access to the parts of an output by kind. An output has at most one part of each kind. */

export interface LedgerOutput {
  readonly outputId: OutputId
  readonly output: Output
}

export function conditionOf<D extends (typeof allUnlockConditions)[number]>(
  output: Output,
  kind: D,
): KindOf<UnlockCondition, D> | undefined {
  const conditions: readonly UnlockCondition[] = output.unlockConditions
  return conditions.find((condition) => is(kind, condition))
}

export function featureOf<D extends (typeof allFeatures)[number]>(
  output: Output,
  kind: D,
): KindOf<Feature, D> | undefined {
  return featuresOf(output).find((feature) => is(kind, feature))
}

/** The issuer among the immutable features. */
export function issuerOf(output: Output): Address | undefined {
  return immutableFeaturesOf(output).find((feature) => is(Issuer, feature))?.address
}

/** The address inside a restricted address. Both have the same owner, because the restrictions apply only to senders. */
export function underlyingAddress(address: Address): Exclude<Address, RestrictedAddress> {
  return is(RestrictedAddress, address) ? address.address : address
}

/** Stored mana as of the creation slot; 0 for foundries and delegations, which store none. */
export function storedManaOf(output: Output): bigint {
  return 'mana' in output ? output.mana : 0n
}

import { isDeepStrictEqual } from 'node:util'
import type { Hex } from '../../lib/hex.ts'
import { comparable } from '../../protocol/metadata-order.ts'
import type { Output } from '../../protocol/outputs.ts'
import { isZero } from '../../protocol/outputs.ts'
import { immutableFeaturesOf } from '../../protocol/score.ts'
import { issuerOf } from '../output-parts.ts'
import { isUnlocked } from '../senders.ts'
import type { TransactionError } from '../transaction-error.ts'
import type { WorkingSet } from '../working-set.ts'
import type { Beginning, Change } from './chain-states.ts'

/** Rules for the transitions of several kinds of chains (ledger reference 6). */

/** The id of a new chain must be zero: the id is computed from the output that begins the chain. */
export function idIsNew(id: Hex, output: number): TransactionError | undefined {
  return isZero(id) ? undefined : { code: 'NEW_CHAIN_OUTPUT_HAS_NON_ZEROED_ID', output }
}

/** The issuer address of a new chain must have unlocked an input. */
export function issuerUnlocked(
  set: WorkingSet,
  { state, output }: Beginning<Output>,
): TransactionError | undefined {
  const issuer = issuerOf(state)
  const isAbsent = issuer !== undefined && !isUnlocked(set, issuer)
  return isAbsent ? { code: 'ISSUER_FEATURE_NOT_UNLOCKED', output } : undefined
}

/** Immutable features must not change. The order of metadata entries is ignored. */
export function immutableFeaturesKept(change: Change<Output>): TransactionError | undefined {
  const before = immutableFeaturesOf(change.before).map(comparable)
  const after = immutableFeaturesOf(change.after).map(comparable)
  const { output } = change
  return isDeepStrictEqual(before, after)
    ? undefined
    : { code: 'CHAIN_OUTPUT_IMMUTABLE_FEATURES_CHANGED', output }
}

import { isDeepStrictEqual } from 'node:util'
import { Metadata, StateMetadata } from '../../protocol/features.ts'
import { is } from '../../protocol/is.ts'
import { comparable } from '../../protocol/metadata-order.ts'
import { AnchorOutput } from '../../protocol/outputs.ts'
import type { OutputId } from '../../protocol/primitives.ts'
import { hasCapability } from '../capabilities.ts'
import { type Chains, chainId, chainKey } from '../chains.ts'
import { featureOf } from '../output-parts.ts'
import type { TransactionError } from '../transaction-error.ts'
import type { WorkingSet } from '../working-set.ts'
import { idIsNew, immutableFeaturesKept, issuerUnlocked } from './chain-rules.ts'
import type { Beginning, Change, End } from './chain-states.ts'

/** The transitions of an anchor (ledger reference 4.1, 6.6). */

/** A transition of an anchor: to its next state, a change or end by its governor, or a jump of the state index, which is invalid. */
export type AnchorMove = 'STATE' | 'GOVERNANCE' | 'JUMP'

/** The transition of a spent anchor. It decides whose unlock the transaction needs. */
export function anchorMove(chains: Chains, before: AnchorOutput, outputId: OutputId): AnchorMove {
  const next = chains.outputByKey.get(chainKey(AnchorOutput.code, chainId(before, outputId)))?.state
  return is(AnchorOutput, next) ? moveBetween(before, next) : 'GOVERNANCE'
}

/** Checks a new anchor. */
export function anchorBegins(
  set: WorkingSet,
  anchor: Beginning<AnchorOutput>,
): TransactionError | undefined {
  return idIsNew(anchor.state.anchorId, anchor.output) ?? issuerUnlocked(set, anchor)
}

/** Checks a changed anchor. The state controller and the governor may each change only their own parts. */
export function anchorChanges(change: Change<AnchorOutput>): TransactionError | undefined {
  const broken = immutableFeaturesKept(change)
  if (broken !== undefined) return broken
  const { before, after, output } = change
  if (moveBetween(before, after) === 'STATE') {
    const isKept =
      isDeepStrictEqual(before.unlockConditions, after.unlockConditions) &&
      isDeepStrictEqual(
        comparable(featureOf(before, Metadata)),
        comparable(featureOf(after, Metadata)),
      )
    return isKept ? undefined : { code: 'ANCHOR_INVALID_STATE_TRANSITION', output }
  }
  const isKept =
    before.amount === after.amount &&
    isDeepStrictEqual(
      comparable(featureOf(before, StateMetadata)),
      comparable(featureOf(after, StateMetadata)),
    )
  return isKept ? undefined : { code: 'ANCHOR_INVALID_GOVERNANCE_TRANSITION', output }
}

/** Checks the end of an anchor. The unlock rules already require its governor. */
export function anchorEnds(
  set: WorkingSet,
  { input }: End<AnchorOutput>,
): TransactionError | undefined {
  const mayEnd = hasCapability(set.transaction, 'destroyAnchors')
  return mayEnd ? undefined : { code: 'CAPABILITIES_ANCHOR_DESTRUCTION_NOT_ALLOWED', input }
}

function moveBetween(before: AnchorOutput, after: AnchorOutput): AnchorMove {
  if (after.stateIndex === before.stateIndex + 1) return 'STATE'
  return after.stateIndex === before.stateIndex ? 'GOVERNANCE' : 'JUMP'
}

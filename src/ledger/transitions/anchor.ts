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

/** The life of an anchor (ledger reference 4.1, 6.6). */

/** What becomes of an anchor: its next state, a change or the end by its governor, or a state that cannot follow. */
export type AnchorMove = 'STATE' | 'GOVERNANCE' | 'JUMP'

/** The move that a transaction makes with an anchor it spends, which decides whose unlock it needs. */
export function anchorMove(chains: Chains, before: AnchorOutput, outputId: OutputId): AnchorMove {
  const next = chains.outputByKey.get(chainKey(AnchorOutput.code, chainId(before, outputId)))?.state
  return is(AnchorOutput, next) ? moveBetween(before, next) : 'GOVERNANCE'
}

/** An anchor begins. */
export function anchorBegins(
  set: WorkingSet,
  anchor: Beginning<AnchorOutput>,
): TransactionError | undefined {
  return idIsNew(anchor.state.anchorId, anchor.output) ?? issuerUnlocked(set, anchor)
}

/** An anchor goes on: its state controller and its governor may each change what is theirs. */
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

/** An anchor ends; its governor has unlocked it. */
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

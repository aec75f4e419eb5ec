import type { DelegationOutput } from '../../protocol/outputs.ts'
import { isZero } from '../../protocol/outputs.ts'
import type { ProtocolParameters } from '../../protocol/parameters.ts'
import type { EpochIndex, SlotIndex } from '../../protocol/primitives.ts'
import { epochOfSlot, lastSlotOfEpoch } from '../../protocol/slots.ts'
import type { TransactionError } from '../transaction-error.ts'
import type { WorkingSet } from '../working-set.ts'
import { idIsNew } from './chain-rules.ts'
import type { Beginning, Change, End } from './chain-states.ts'

/** The transitions of a delegation: it runs, may be delayed before the claim of its rewards, and ends with it (ledger reference 6.7). */

/** Checks a new delegation. It must start with the first epoch whose committee it can still affect. */
export function delegationBegins(
  { parameters, clock }: WorkingSet,
  { state, output }: Beginning<DelegationOutput>,
): TransactionError | undefined {
  const notNew = idIsNew(state.delegationId, output)
  if (notNew !== undefined) return notNew
  if (clock === undefined) return { code: 'DELEGATION_COMMITMENT_INPUT_MISSING', output }
  const { startEpoch, delegatedAmount, amount } = state
  const expected = committeeEpoch(parameters, clock.pastBounded) + 1
  if (startEpoch !== expected) {
    return { code: 'DELEGATION_START_EPOCH_INVALID', output, startEpoch, expected }
  }
  if (delegatedAmount !== amount) {
    return { code: 'DELEGATION_AMOUNT_MISMATCH', output, delegatedAmount, amount }
  }
  return state.endEpoch === 0 ? undefined : { code: 'DELEGATION_END_EPOCH_NOT_ZERO', output }
}

/** Checks a changed delegation. It may change once, to stop running without claiming its rewards. */
export function delegationChanges(
  { parameters, clock, rewards }: WorkingSet,
  { before, after, input, output }: Change<DelegationOutput>,
): TransactionError | undefined {
  if (rewards.has(input)) return { code: 'DELEGATION_REWARDS_CLAIMING_INVALID', input }
  if (!isZero(before.delegationId)) return { code: 'DELEGATION_OUTPUT_TRANSITIONED_TWICE', output }
  const isKept =
    before.delegatedAmount === after.delegatedAmount &&
    before.validatorAddress.accountId === after.validatorAddress.accountId &&
    before.startEpoch === after.startEpoch
  if (!isKept) return { code: 'DELEGATION_MODIFIED', output }
  if (clock === undefined) return { code: 'DELEGATION_COMMITMENT_INPUT_MISSING', output }
  const { endEpoch } = after
  const expected = committeeEpoch(parameters, clock.futureBounded)
  if (endEpoch === expected) return undefined
  return { code: 'DELEGATION_END_EPOCH_INVALID', output, endEpoch, expected }
}

/** Checks the end of a delegation. It must claim its rewards, even if there are none. */
export function delegationEnds(
  { rewards }: WorkingSet,
  { input }: End<DelegationOutput>,
): TransactionError | undefined {
  return rewards.has(input) ? undefined : { code: 'DELEGATION_REWARD_INPUT_MISSING', input }
}

/**
 * The last epoch whose committee is fixed in a slot: the epoch of the slot, or the next epoch near its end, when the next committee is
 * chosen.
 */
function committeeEpoch(parameters: ProtocolParameters, slot: SlotIndex): EpochIndex {
  const epoch = epochOfSlot(parameters, slot)
  const registration = lastSlotOfEpoch(parameters, epoch) - parameters.epochNearingThreshold
  return slot <= registration ? epoch : epoch + 1
}

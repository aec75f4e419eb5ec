import { present } from '../lib/assert.ts'
import { err, ok, type Result } from '../lib/result.ts'
import type { Address } from '../protocol/addresses.ts'
import { is } from '../protocol/is.ts'
import { AnchorOutput, FoundryOutput, type Output } from '../protocol/outputs.ts'
import {
  AddressUnlock,
  Expiration,
  Governor,
  ImmutableAccount,
  StateController,
  Timelock,
} from '../protocol/unlock-conditions.ts'
import { conditionOf } from './output-parts.ts'
import type { TransactionError } from './transaction-error.ts'
import { type AnchorMove, anchorMove } from './transitions/anchor.ts'
import type { ResolvedInput, TransactionClock, WorkingSet } from './working-set.ts'

/** The addresses that may spend an output, and when (ledger reference 4.1, 5.1). */

/** The address that the unlock of an input must unlock. */
export function addressToUnlock(
  { chains, clock }: WorkingSet,
  resolved: ResolvedInput,
  input: number,
): Result<Address, TransactionError> {
  const { output, outputId } = resolved
  if (is(AnchorOutput, output))
    return anchorHolder(anchorMove(chains, output, outputId), output, input)
  const holder = present(
    conditionOf(output, is(FoundryOutput, output) ? ImmutableAccount : AddressUnlock),
    'the holder of an output',
  )
  return holderByTime(output, holder.address, clock, input)
}

/** The state controller for a state transition, the governor for everything else. */
function anchorHolder(
  move: AnchorMove,
  output: AnchorOutput,
  input: number,
): Result<Address, TransactionError> {
  if (move === 'JUMP') return err({ code: 'SEMANTIC_VALIDATION_FAILED', input })
  const kind = move === 'STATE' ? StateController : Governor
  return ok(present(conditionOf(output, kind), 'the holder of an anchor').address)
}

/** The owner, or the return address after an expiration. */
function holderByTime(
  output: Output,
  owner: Address,
  clock: TransactionClock | undefined,
  input: number,
): Result<Address, TransactionError> {
  const expiration = conditionOf(output, Expiration)
  if (expiration === undefined) return ok(owner)
  if (clock === undefined) return err({ code: 'EXPIRATION_COMMITMENT_INPUT_MISSING', input })
  if (clock.futureBounded >= expiration.slot) return ok(expiration.returnAddress)
  if (clock.pastBounded < expiration.slot) return ok(owner)
  // Between the two bounds, a block could carry the transaction before or after the expiration.
  return err({ code: 'EXPIRATION_NOT_UNLOCKABLE', input, expirationSlot: expiration.slot })
}

/** No input may be locked in the earliest slot in which a block may carry the transaction. */
export function timelocksPassed({ inputs, clock }: WorkingSet): TransactionError | undefined {
  for (const [input, { output }] of inputs.entries()) {
    const timelock = conditionOf(output, Timelock)
    if (timelock === undefined) continue
    if (clock === undefined) return { code: 'TIMELOCK_COMMITMENT_INPUT_MISSING', input }
    if (clock.futureBounded < timelock.slot) {
      return { code: 'TIMELOCK_NOT_EXPIRED', input, until: timelock.slot }
    }
  }
  return undefined
}

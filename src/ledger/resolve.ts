import { err, ok, type Result } from '../lib/result.ts'
import { Staking } from '../protocol/features.ts'
import { creationSlotOf, outputId, slotOfId } from '../protocol/ids.ts'
import { BlockIssuanceCreditInput, CommitmentInput, RewardInput } from '../protocol/inputs.ts'
import { is } from '../protocol/is.ts'
import { AccountOutput, DelegationOutput, type Output } from '../protocol/outputs.ts'
import type { AccountId, CommitmentId, OutputId, SlotIndex } from '../protocol/primitives.ts'
import type { Transaction } from '../protocol/transaction.ts'
import { featureOf } from './output-parts.ts'
import type { RewardOverflow } from './reward-claims.ts'
import type { TransactionError } from './transaction-error.ts'
import type { ResolvedInput, ResolvedReferences } from './working-set.ts'

/** Resolves the references of a transaction for its execution (ledger reference 3.3). */

/** An output of the ledger. `spentIn` is the state of the transaction that spends it; `undefined` for an unspent output. */
export interface KnownOutput {
  readonly output: Output
  readonly spentIn: 'ACCEPTED' | 'COMMITTED' | undefined
}

/** The ledger before the transaction. */
export interface KnownLedger {
  /** Holds at least the existing inputs of the transaction. */
  readonly outputById: ReadonlyMap<OutputId, KnownOutput>
  readonly isCommitmentKnown: (commitmentId: CommitmentId) => boolean
  /** The block issuance credits of an account at the end of a committed slot; `undefined` for an account without an entry. */
  readonly creditsAt: (accountId: AccountId, slot: SlotIndex) => bigint | undefined
  /** The mana that a delegation or a staking account would claim under a commitment to `slot`. */
  readonly rewardAt: (input: ResolvedInput, slot: SlotIndex) => Result<bigint, RewardOverflow>
}

/** The ids of the outputs that a transaction spends, in the order of its inputs. */
export function inputIds(transaction: Transaction): OutputId[] {
  return transaction.inputs.map((input) =>
    outputId(input.transactionId, input.transactionOutputIndex),
  )
}

/**
 * Resolves the inputs and the commitment of a transaction, then its credits, then its rewards. A missing output is reported only after
 * the checks of the other inputs and the commitment, because the output may still be created.
 */
export function resolveReferences(
  transaction: Transaction,
  ledger: KnownLedger,
): Result<ResolvedReferences, TransactionError> {
  const inputs = resolveInputs(transaction, ledger)
  if (!inputs.ok) return inputs
  const commitment = transaction.contextInputs.find((input) => is(CommitmentInput, input))
  if (commitment !== undefined && !ledger.isCommitmentKnown(commitment.commitmentId)) {
    const { commitmentId } = commitment
    return err({ code: 'COMMITMENT_INPUT_REFERENCE_INVALID', commitmentId })
  }
  const missing = missingInput(transaction, ledger)
  if (missing !== undefined) return err(missing)
  // By the syntactic rules, other context inputs require a commitment input.
  if (commitment === undefined) {
    return ok({ inputs: inputs.value, credits: new Map(), rewards: new Map() })
  }
  const { commitmentId } = commitment
  const slot = slotOfId(commitmentId)
  const credits = resolveCredits(transaction, ledger, slot)
  if (!credits.ok) return credits
  const rewards = resolveRewards(transaction, ledger, { inputs: inputs.value, slot })
  if (!rewards.ok) return rewards
  return ok({ inputs: inputs.value, credits: credits.value, rewards: rewards.value })
}

/** Resolves the existing inputs, in order. An output that is already spent is an error: the first spender wins. */
function resolveInputs(
  transaction: Transaction,
  ledger: KnownLedger,
): Result<ResolvedInput[], TransactionError> {
  const inputs: ResolvedInput[] = []
  for (const [input, id] of inputIds(transaction).entries()) {
    const known = ledger.outputById.get(id)
    if (known === undefined) continue
    if (known.spentIn === 'COMMITTED')
      return err({ code: 'INPUT_ALREADY_SPENT', input, outputId: id })
    if (known.spentIn === 'ACCEPTED') return err({ code: 'CONFLICT_REJECTED', input, outputId: id })
    inputs.push({ outputId: id, output: known.output, creationSlot: creationSlotOf(id) })
  }
  return ok(inputs)
}

function missingInput(
  transaction: Transaction,
  { outputById }: KnownLedger,
): TransactionError | undefined {
  for (const [input, outputId] of inputIds(transaction).entries()) {
    if (!outputById.has(outputId)) return { code: 'ORPHANED', input, outputId }
  }
  return undefined
}

function resolveCredits(
  transaction: Transaction,
  ledger: KnownLedger,
  slot: SlotIndex,
): Result<ReadonlyMap<AccountId, bigint>, TransactionError> {
  const credits = new Map<AccountId, bigint>()
  for (const input of transaction.contextInputs) {
    if (!is(BlockIssuanceCreditInput, input)) continue
    const { accountId } = input
    const held = ledger.creditsAt(accountId, slot)
    if (held === undefined) return err({ code: 'BIC_INPUT_REFERENCE_INVALID', accountId })
    credits.set(accountId, held)
  }
  return ok(credits)
}

/** Resolves reward inputs. Only delegations and staking accounts earn rewards. */
function resolveRewards(
  transaction: Transaction,
  ledger: KnownLedger,
  { inputs, slot }: { readonly inputs: readonly ResolvedInput[]; readonly slot: SlotIndex },
): Result<ReadonlyMap<number, bigint>, TransactionError> {
  const rewards = new Map<number, bigint>()
  for (const contextInput of transaction.contextInputs) {
    if (!is(RewardInput, contextInput)) continue
    const { index: input } = contextInput
    const claiming = inputs[input]
    const isDelegation = is(DelegationOutput, claiming?.output)
    const isStaking =
      is(AccountOutput, claiming?.output) && featureOf(claiming.output, Staking) !== undefined
    if (claiming === undefined || !(isDelegation || isStaking)) {
      return err({ code: 'REWARD_INPUT_REFERENCE_INVALID', input })
    }
    const reward = ledger.rewardAt(claiming, slot)
    if (!reward.ok) {
      const kind = isDelegation ? 'DELEGATION' : 'STAKING'
      return err({ code: `${kind}_REWARD_CALCULATION_FAILURE`, input })
    }
    rewards.set(input, reward.value)
  }
  return ok(rewards)
}

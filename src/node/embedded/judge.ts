import { execute } from '../../ledger/execute.ts'
import { inputIds, type KnownOutput, resolveReferences } from '../../ledger/resolve.ts'
import type { RewardOverflow } from '../../ledger/reward-claims.ts'
import { failureReasonOf, type TransactionError } from '../../ledger/transaction-error.ts'
import type { ResolvedInput } from '../../ledger/working-set.ts'
import { present } from '../../lib/assert.ts'
import type { Result } from '../../lib/result.ts'
import type { ProtocolParameters } from '../../protocol/parameters.ts'
import type {
  AccountId,
  BlockId,
  CommitmentId,
  OutputId,
  SlotIndex,
} from '../../protocol/primitives.ts'
import type { BookedTransaction, CreatedOutput, SpentOutput } from '../../store/contract.ts'
import type { PreparedTransaction } from '../prepared-transaction.ts'

/** Judges a batch of transactions one after the other, purely in memory (ledger reference 3, 12.1). */

/** The ledger as it stands before the batch. */
export interface LedgerBefore {
  readonly parameters: ProtocolParameters
  /** Holds every output that the batch spends and that exists already. */
  readonly outputById: ReadonlyMap<OutputId, BookedOutput>
  readonly isCommitmentKnown: (id: CommitmentId) => boolean
  /** The block issuance credits of an account at the end of a committed slot; `undefined` without an entry. */
  readonly creditsAt: (accountId: AccountId, slot: SlotIndex) => bigint | undefined
  /** What a reward input claims under a commitment to a slot. */
  readonly rewardAt: (input: ResolvedInput, slot: SlotIndex) => Result<bigint, RewardOverflow>
}

/** An output and the slot it came in. */
export interface BookedOutput extends KnownOutput {
  readonly bookedSlot: SlotIndex
}

/** A transaction and the block that brought it. */
export interface Candidate {
  readonly blockId: BlockId
  readonly slot: SlotIndex
  readonly prepared: PreparedTransaction
}

/** What the batch changes. */
export interface Effects {
  readonly transactions: readonly BookedTransaction[]
  readonly created: readonly CreatedOutput[]
  readonly spent: readonly SpentOutput[]
  /** Why transactions failed, for the log. */
  readonly failures: readonly { readonly candidate: Candidate; readonly error: TransactionError }[]
}

/** Judges the candidates in their order; of two that spend one output the first wins. */
export function judge(before: LedgerBefore, candidates: readonly Candidate[]): Effects {
  const outputById = new Map(before.outputById)
  const transactions: BookedTransaction[] = []
  const created: CreatedOutput[] = []
  const spent: SpentOutput[] = []
  const failures: { candidate: Candidate; error: TransactionError }[] = []

  for (const candidate of candidates) {
    const { blockId, prepared } = candidate
    const { transactionId, outputBytes } = prepared.identity
    const { transaction, unlocks } = prepared.payload
    const { parameters } = before
    const resolved = resolveReferences(transaction, { ...before, outputById })
    const diff = resolved.ok
      ? execute({
          ...resolved.value,
          parameters,
          transaction,
          transactionId,
          unlocks,
          isSignatureValid: prepared.isSignatureValid,
        })
      : resolved
    if (!diff.ok) {
      const failureReason = failureReasonOf(diff.error)
      transactions.push({
        transactionId,
        blockId,
        slot: candidate.slot,
        state: 'FAILED',
        failureReason,
        allotments: [],
      })
      failures.push({ candidate, error: diff.error })
      continue
    }
    const slot = bookedSlot(candidate, outputById)
    const { allotments } = transaction
    transactions.push({ ...accepted, transactionId, blockId, slot, allotments })
    for (const outputId of diff.value.consumed) {
      const output = present(outputById.get(outputId), 'a consumed output')
      outputById.set(outputId, { ...output, spentIn: 'ACCEPTED' })
      spent.push({ outputId, spentSlot: slot, spentBy: transactionId })
    }
    diff.value.created.forEach(({ outputId, output }, i) => {
      const bytes = present(outputBytes[i], 'the bytes of a created output')
      outputById.set(outputId, { output, spentIn: undefined, bookedSlot: slot })
      created.push({ outputId, bytes, blockId, bookedSlot: slot })
    })
  }
  return { transactions, created, spent, failures }
}

const accepted = { state: 'ACCEPTED', failureReason: undefined } as const

/**
 * The slot a transaction belongs to: its block's, but not before an input came. A block may have an earlier
 * issuing time than the one that created what it spends, and no output is spent in a slot before its own.
 */
function bookedSlot(
  { slot, prepared }: Candidate,
  outputById: ReadonlyMap<OutputId, BookedOutput>,
): SlotIndex {
  const slots = inputIds(prepared.payload.transaction).map(
    (id) => outputById.get(id)?.bookedSlot ?? slot,
  )
  return Math.max(slot, ...slots)
}

import { type Diff, execute } from '../../ledger/execute.ts'
import { isOfCarrier } from '../../ledger/failure-reasons.ts'
import {
  inputIds,
  type KnownLedger,
  type KnownOutput,
  resolveReferences,
} from '../../ledger/resolve.ts'
import { failureReasonOf, type TransactionError } from '../../ledger/transaction-error.ts'
import { present } from '../../lib/assert.ts'
import type { Result } from '../../lib/result.ts'
import { transactionOf } from '../../protocol/ids.ts'
import type { ProtocolParameters } from '../../protocol/parameters.ts'
import type { OutputId, SlotIndex, TransactionId } from '../../protocol/primitives.ts'
import type { WaitingCarrier } from '../../store/contract/waiting.ts'
import type { BookedTransaction, CreatedOutput } from '../../store/contract.ts'
import type { SpentOutput } from '../../store/rows.ts'
import { type Candidate, createCarrierQueue, type StoredWaiter } from './carrier-queue.ts'

/**
 * Judges a batch of transactions one after the other, entirely in memory (ledger reference 3, 12.1). A transaction is judged once
 * per carrier block until it is valid: the transaction id does not cover the unlocks, so that anybody can issue another carrier
 * with other unlocks.
 */

export interface LedgerBefore extends KnownLedger {
  readonly parameters: ProtocolParameters
  /** Every output that the batch spends and that already exists. */
  readonly outputById: ReadonlyMap<OutputId, BookedOutput>
}

/** An output and the slot that created it. */
export interface BookedOutput extends KnownOutput {
  readonly bookedSlot: SlotIndex
}

/** The loaded carriers that have waited since earlier batches. */
export interface StoredWaiters {
  readonly waiters: readonly StoredWaiter[]
  /** Whether all carriers that wait for this transaction are loaded. */
  isLoaded(transactionId: TransactionId): boolean
}

/** The changes that a batch makes. */
export interface Effects {
  /** One verdict per transaction; a waiting transaction has none. */
  readonly transactions: readonly BookedTransaction[]
  readonly created: readonly CreatedOutput[]
  readonly spent: readonly SpentOutput[]
  readonly waiting: readonly WaitingCarrier[]
  /** The errors of failed transactions, for the log. */
  readonly failures: readonly { readonly candidate: Candidate; readonly error: TransactionError }[]
  /** Inbox positions of the judged carriers: of all carriers, unless the batch is cut. */
  readonly judged: ReadonlySet<number>
  /** Whether the batch ends early, because carriers that are not loaded wait for the last transaction and must be judged next. */
  readonly isCut: boolean
}

/** Judges candidates in inbox order. When two candidates spend the same output, the first one wins. */
export function judge(
  before: LedgerBefore,
  candidates: readonly Candidate[],
  stored: StoredWaiters = noWaiters,
): Effects {
  const carriers = createCarrierQueue(candidates, stored.waiters)
  const changes: Changes = { outputById: new Map(before.outputById), created: [], spent: [] }
  const verdicts = new Map<TransactionId, BookedTransaction>()
  const failures = new Map<TransactionId, Effects['failures'][number]>()
  const judged = new Set<number>()
  let isCut = false

  while (!isCut) {
    const candidate = carriers.next()
    if (candidate === undefined) break
    judged.add(candidate.inbox)
    const { transactionId } = candidate.prepared.identity
    const former = verdicts.get(transactionId)
    if (former !== undefined && !isOfCarrier(former.failureReason)) continue
    const diff = executeCandidate(candidate, { ...before, outputById: changes.outputById })
    if (diff.ok) {
      verdicts.set(transactionId, accept(candidate, diff.value, changes))
      failures.delete(transactionId)
      carriers.booked(transactionId)
      isCut = !stored.isLoaded(transactionId)
    } else if (diff.error.code === 'ORPHANED') {
      carriers.wait(candidate, awaitedBy(candidate, changes.outputById))
    } else {
      verdicts.set(transactionId, failedVerdict(candidate, diff.error, former))
      failures.set(transactionId, { candidate, error: diff.error })
    }
  }
  const { created, spent } = changes
  const transactions = [...verdicts.values()]
  const waiting = carriers.waiting()
  return { transactions, created, spent, waiting, failures: [...failures.values()], judged, isCut }
}

/** The ledger with the changes of the batch so far. */
interface Changes {
  readonly outputById: Map<OutputId, BookedOutput>
  readonly created: CreatedOutput[]
  readonly spent: SpentOutput[]
}

/** The waiters of a ledger in which no carrier waits. */
export const noWaiters: StoredWaiters = { waiters: [], isLoaded: () => true }

function executeCandidate(
  { prepared }: Candidate,
  ledger: LedgerBefore,
): Result<Diff, TransactionError> {
  const { transaction, unlocks } = prepared.payload
  const resolved = resolveReferences(transaction, ledger)
  if (!resolved.ok) return resolved
  return execute({
    ...resolved.value,
    parameters: ledger.parameters,
    transaction,
    transactionId: prepared.identity.transactionId,
    unlocks,
    isSignatureValid: prepared.isSignatureValid,
  })
}

/** Applies a valid transaction to `changes`. */
function accept(
  candidate: Candidate,
  { consumed, created }: Diff,
  changes: Changes,
): BookedTransaction {
  const { blockId, prepared } = candidate
  const { transactionId, outputBytes } = prepared.identity
  const slot = bookedSlot(candidate, changes.outputById)
  for (const outputId of consumed) {
    const output = present(changes.outputById.get(outputId), 'a consumed output')
    changes.outputById.set(outputId, { ...output, spentIn: 'ACCEPTED' })
    changes.spent.push({ outputId, spentSlot: slot, spentBy: transactionId })
  }
  created.forEach(({ outputId, output }, i) => {
    const bytes = present(outputBytes[i], 'the bytes of a created output')
    changes.outputById.set(outputId, { output, spentIn: undefined, bookedSlot: slot })
    changes.created.push({ outputId, bytes, blockId, bookedSlot: slot })
  })
  const { allotments } = prepared.payload.transaction
  return { state: 'ACCEPTED', failureReason: undefined, transactionId, blockId, slot, allotments }
}

/** The transactions that would create the missing inputs. */
function awaitedBy(
  { prepared }: Candidate,
  outputById: ReadonlyMap<OutputId, BookedOutput>,
): TransactionId[] {
  const missing = inputIds(prepared.payload.transaction).filter((id) => !outputById.has(id))
  return [...new Set(missing.map(transactionOf))]
}

/** The verdict of a failed transaction. When several carriers failed, the verdict names the last one. */
function failedVerdict(
  { blockId, slot, prepared }: Candidate,
  error: TransactionError,
  former: BookedTransaction | undefined,
): BookedTransaction {
  return {
    transactionId: prepared.identity.transactionId,
    blockId,
    slot,
    state: 'FAILED',
    failureReason: failureReasonOf(error),
    allotments: [],
    judgedCarriers: (former?.judgedCarriers ?? 0) + 1,
  }
}

/**
 * The slot of a transaction: the slot of its block, or the latest slot of an input if that is later. A block may have an earlier
 * issuing time than the block that created its inputs, and no output is spent in a slot before its own.
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

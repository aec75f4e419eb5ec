import { assert, present } from '../lib/assert.ts'
import { outputId, slotOfId } from '../protocol/ids.ts'
import type { TransactionMetadata } from '../protocol/node-answers.ts'
import type { OutputId, TransactionId } from '../protocol/primitives.ts'
import type { SignedTransaction } from '../protocol/transaction.ts'
import type { StoreReader } from '../store/contract.ts'
import type { TransactionRow } from '../store/rows.ts'
import { type PublishedFailure, failureReason as reasonOf } from './failure-reason.ts'
import { decodeBlock } from './read-block.ts'

/** A transaction and what became of it. */

/** What reading transactions needs. */
export interface ReadTransactionDeps {
  readonly store: { readonly read: Pick<StoreReader, 'transaction' | 'block'> }
}

/** A transaction with its state. */
export interface TransactionView extends Omit<TransactionRow, 'failureReason'> {
  /** With its unlocks, as the earliest block has them. */
  readonly payload: SignedTransaction
  /** Why a FAILED one failed. */
  readonly failure: PublishedFailure | undefined
  /** The outputs it spends, in the order of its inputs. */
  readonly inputIds: readonly OutputId[]
  /** The outputs it creates when it is accepted. */
  readonly outputIds: readonly OutputId[]
}

/** Reads a transaction; `undefined` when it is not known. */
export async function readTransaction(
  { store }: ReadTransactionDeps,
  transactionId: TransactionId,
): Promise<TransactionView | undefined> {
  const row = await store.read.transaction(transactionId)
  if (row === undefined) return undefined
  const block = present(await store.read.block(row.blockId), `block of ${transactionId}`)
  const { body } = decodeBlock(block.bytes)
  assert(body.type === 0 && body.payload?.type === 1, 'the block of a transaction carries it')
  const { failureReason, ...rest } = row
  const { inputs, outputs } = body.payload.transaction
  return {
    ...rest,
    payload: body.payload,
    failure: failureReason === undefined ? undefined : present(reasonOf(failureReason), 'a reason'),
    inputIds: inputs.map((input) => outputId(input.transactionId, input.transactionOutputIndex)),
    outputIds: outputs.map((_, index) => outputId(transactionId, index)),
  }
}

/** Where a transaction stands, as the node tells it (rest.md 4.1). */
export function transactionMetadata(view: TransactionView): TransactionMetadata {
  const { transactionId, state, blockId, failure } = view
  return {
    transactionId,
    transactionState: stateNames[state],
    earliestAttachmentSlot: slotOfId(blockId),
    transactionFailureReason: failure?.code ?? 0,
    transactionFailureDetails: failure?.name ?? '',
  }
}

const stateNames = {
  PENDING: 'pending',
  ACCEPTED: 'accepted',
  COMMITTED: 'committed',
  FINALIZED: 'finalized',
  FAILED: 'failed',
} as const satisfies Record<TransactionRow['state'], TransactionMetadata['transactionState']>

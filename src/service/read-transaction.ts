import { failureReasonName } from '../ledger/failure-reasons.ts'
import { assert, present } from '../lib/assert.ts'
import { outputId } from '../protocol/ids.ts'
import type { OutputId, TransactionId } from '../protocol/primitives.ts'
import type { SignedTransaction } from '../protocol/transaction.ts'
import type { StoreReader } from '../store/contract.ts'
import type { TransactionRow } from '../store/rows.ts'
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
  readonly failure: Failure | undefined
  /** The outputs it spends, in the order of its inputs. */
  readonly inputIds: readonly OutputId[]
  /** The outputs it creates when it is accepted. */
  readonly outputIds: readonly OutputId[]
}

/** A published failure reason (ledger reference 8). */
export interface Failure {
  readonly number: number
  /** Such as `InputAlreadySpent`. */
  readonly name: string
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
    failure: failureReason === undefined ? undefined : failureOf(failureReason),
    inputIds: inputs.map((input) => outputId(input.transactionId, input.transactionOutputIndex)),
    outputIds: outputs.map((_, index) => outputId(transactionId, index)),
  }
}

function failureOf(number: number): Failure {
  return { number, name: present(failureReasonName(number), `failure reason ${number}`) }
}

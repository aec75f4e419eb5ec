import { present } from '../../lib/assert.ts'
import { ok, type Result } from '../../lib/result.ts'
import type { CarriedTransaction, NotServedByNode } from '../../node/source.ts'
import { Block, signedTransactionOf } from '../../protocol/block.ts'
import { indexOf, outputId, slotOfId, transactionOf } from '../../protocol/ids.ts'
import type { TransactionMetadata } from '../../protocol/node-responses.ts'
import type { BlockId, OutputId, TransactionId } from '../../protocol/primitives.ts'
import { decodeStored } from '../../protocol/stored.ts'
import type { SignedTransaction } from '../../protocol/transaction.ts'
import type { LogTip, OutputRow, TransactionRow } from '../../store/rows.ts'
import type { Services } from '../services.ts'
import { failureOf, type PublishedFailure } from './failure-reason.ts'
import { type BlockView, fetchMissing } from './read-block.ts'

/** Reads transactions, their contents and their states. */

export { isBooked } from '../../store/rows.ts'

/** The state of a transaction. Its content is in its block, which is read only if the content is requested. */
export interface TransactionOutcome extends Omit<TransactionRow, 'failureReason' | 'blockId'> {
  /** The block with which the transaction was executed; `undefined` for the genesis transaction, which has no block. */
  readonly blockId: BlockId | undefined
  /** Why the transaction failed; only in state FAILED. */
  readonly failure: PublishedFailure | undefined
}

export interface TransactionContent {
  /** The transaction with the unlocks in that block; `undefined` for the genesis transaction, which has no signature. */
  readonly payload: SignedTransaction | undefined
  /** Ids of the spent outputs, in the order of the inputs. */
  readonly inputIds: readonly OutputId[]
  /** Ids of the outputs that the transaction creates if it is accepted. */
  readonly outputIds: readonly OutputId[]
}

export interface TransactionView extends TransactionOutcome, TransactionContent {}

/** A transaction in a list: its state, and its content if that was already read. */
export interface ListedTransaction extends TransactionOutcome, Partial<TransactionContent> {}

/** Reads a transaction from the store or else from the upstream node; `undefined` if neither has it. */
export async function readTransaction(
  deps: Pick<Services, 'store' | 'source'>,
  transactionId: TransactionId,
): Promise<Result<TransactionView | undefined, NotServedByNode>> {
  const { store, source } = deps
  const row = await store.read.transaction(transactionId)
  if (row !== undefined) {
    const block = present(await store.read.block(row.blockId), `block of ${transactionId}`)
    return ok(viewOfTransaction({ transaction: row, block }))
  }
  const genesis = await readGenesisTransaction(deps, transactionId)
  if (genesis !== undefined || source.node === undefined) return ok(genesis)
  const answered = await source.node.transaction(transactionId)
  return answered.ok ? ok(answered.value && viewOfTransaction(answered.value)) : answered
}

/** Reads many transactions, from the store in one statement, the others from the upstream node. Unknown transactions are left out. */
export async function readTransactions(
  deps: Pick<Services, 'store' | 'source'>,
  transactionIds: readonly TransactionId[],
): Promise<ReadonlyMap<TransactionId, Result<ListedTransaction, NotServedByNode>>> {
  const { store, source } = deps
  const kept = await store.read.transactions(transactionIds)
  const found = new Map<TransactionId, Result<ListedTransaction, never>>(
    kept.map((row) => [row.transactionId, ok(outcomeOf(row))]),
  )
  for (const id of transactionIds) {
    const genesis = found.has(id) ? undefined : await readGenesisTransaction(deps, id)
    if (genesis !== undefined) found.set(id, ok(genesis))
  }
  const { node } = source
  if (node === undefined) return found
  return await fetchMissing(found, transactionIds, async (id) => {
    const answered = await node.transaction(id)
    return answered.ok ? ok(answered.value && viewOfTransaction(answered.value)) : answered
  })
}

/**
 * Returns the transaction that created an output, as of a tip, without reading it: on the own ledger an output is booked in the slot of its
 * transaction and has the same block. `undefined` if the transaction must be read: for outputs of the genesis, and in upstream mode, where
 * the node reports the state of a transaction.
 */
export function creatingTransaction(
  { source }: Pick<Services, 'source'>,
  { outputId, blockId, bookedSlot }: OutputRow,
  tip: Pick<LogTip, 'slot'>,
): ListedTransaction | undefined {
  const { node, network } = source
  const isOfGenesis = bookedSlot === network.parameters.genesisSlot
  if (node !== undefined || blockId === undefined || isOfGenesis) return undefined
  const state = bookedSlot <= tip.slot ? 'FINALIZED' : 'ACCEPTED'
  const transactionId = transactionOf(outputId)
  return { transactionId, blockId, slot: bookedSlot, state, failure: undefined }
}

export function contentOfBlock(view: BlockView): TransactionContent {
  const block = view.block()
  const known = contents.get(block)
  if (known !== undefined) return known
  const { blockId, transactionId } = view
  const content = contentIn(present(transactionId, `the transaction of ${blockId}`), block)
  contents.set(block, content)
  return content
}

/** Cache: several fields of one response need the content. */
const contents = new WeakMap<Block, TransactionContent>()

/**
 * Reads the genesis transaction, to which the ids of the genesis outputs refer; `undefined` for every other id. The
 * transaction itself never existed (ledger reference 12.6): its id is a hash over its outputs.
 */
async function readGenesisTransaction(
  { store, source }: Pick<Services, 'store' | 'source'>,
  transactionId: TransactionId,
): Promise<TransactionView | undefined> {
  const { genesisSlot: slot } = source.network.parameters
  if (slotOfId(transactionId) !== slot) return undefined
  const rows = await store.read.outputsOfTransaction(transactionId)
  // The genesis slot is committed from the start, so a real transaction of that slot is booked in a later slot.
  const outputIds = rows.filter((row) => row.bookedSlot === slot).map((row) => row.outputId)
  // After a snapshot, its spent outputs are missing.
  if (outputIds.length === 0) return undefined
  return {
    transactionId,
    blockId: undefined,
    slot,
    state: 'FINALIZED',
    payload: undefined,
    failure: undefined,
    inputIds: [],
    outputIds: outputIds.sort((a, b) => indexOf(a) - indexOf(b)),
  }
}

function viewOfTransaction({ transaction, block }: CarriedTransaction): TransactionView {
  return {
    ...outcomeOf(transaction),
    ...contentIn(transaction.transactionId, decodeStored(Block, block.bytes)),
  }
}

/** A row of the store as the view that the transports render. */
export function outcomeOf({ failureReason, ...rest }: TransactionRow): TransactionOutcome {
  return { ...rest, failure: failureReason === undefined ? undefined : failureOf(failureReason) }
}

function contentIn(transactionId: TransactionId, block: Block): TransactionContent {
  const carried = signedTransactionOf(block)
  const payload = present(carried, 'the transaction in its block')
  const { inputs, outputs } = payload.transaction
  return {
    payload,
    inputIds: inputs.map((input) => outputId(input.transactionId, input.transactionOutputIndex)),
    outputIds: outputs.map((_, index) => outputId(transactionId, index)),
  }
}

/** Reads the state of a transaction. An upstream node also serves the state of transactions whose block it does not serve. */
export async function readTransactionMetadata(
  deps: Pick<Services, 'store' | 'source'>,
  transactionId: TransactionId,
): Promise<Result<TransactionMetadata | undefined, NotServedByNode>> {
  const { store, source } = deps
  const isKept = (await store.read.transaction(transactionId)) !== undefined
  if (!isKept && source.node !== undefined) {
    const genesis = await readGenesisTransaction(deps, transactionId)
    if (genesis === undefined) return source.node.transactionMetadata(transactionId)
    return ok(transactionMetadata(genesis))
  }
  const found = await readTransaction(deps, transactionId)
  return found.ok ? ok(found.value && transactionMetadata(found.value)) : found
}

/** The state of a transaction in the form of the node API (rest.md 4.1). */
export function transactionMetadata(view: TransactionView): TransactionMetadata {
  const { transactionId, state, blockId, slot, failure } = view
  return {
    transactionId,
    transactionState: stateNames[state],
    earliestAttachmentSlot: blockId === undefined ? slot : slotOfId(blockId),
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

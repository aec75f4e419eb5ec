import { LRUCache } from 'lru-cache'
import type { Hex } from '../../lib/hex.ts'
import type { Log } from '../../lib/log.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { transactionOf } from '../../protocol/ids.ts'
import type { Network } from '../../protocol/network.ts'
import type { BlockMetadata, TransactionMetadata } from '../../protocol/node-responses.ts'
import type { BlockId, OutputId, SlotIndex, TransactionId } from '../../protocol/primitives.ts'
import { provesOutput } from '../../protocol/proofs.ts'
import type { FinalBlocks, StoreWriter } from '../../store/contract.ts'
import {
  type BlockRow,
  type BlockState,
  blockStates,
  isBooked,
  type TransactionRow,
  transactionStates,
} from '../../store/rows.ts'
import type { CarriedTransaction, CheckedBlock, NotServedByNode, UpstreamNode } from '../source.ts'
import type { ForwardedBlocks } from './forwarded-blocks.ts'
import { type NodeBlock, nodeBlock } from './node-block.ts'
import {
  blockMetadataOf,
  blockOf,
  coreAnswer,
  includedBlockOf,
  type NodeQuery,
  outputMetadataOf,
  outputOf,
  transactionMetadataOf,
} from './node-queries.ts'
import type { Nodes } from './nodes.ts'
import { createRequestCoalescer } from './request-coalescer.ts'

/** Fetches data that is not in the database from the nodes: blocks, transactions, metadata and proofs. */

export interface UpstreamNodeDeps {
  readonly nodes: Nodes
  readonly network: Network
  readonly write: Pick<StoreWriter, 'storeFinalBlocks'>
  readonly log: Log
  readonly forwarded: ForwardedBlocks
  /** Hashes of transaction essences from recent proofs. */
  readonly proven: LRUCache<TransactionId, Hex>
  /** The newest slot committed here. The node's data about later slots may still change. */
  readonly committedSlot: () => SlotIndex
}

interface Reading extends UpstreamNodeDeps {
  /** The newest blocks with transactions that nodes served. Nodes do not tell which block carries a failed transaction. */
  readonly served: LRUCache<TransactionId, Uint8Array>
}

/** Creates the interface to the nodes. */
export function createUpstreamNode(given: UpstreamNodeDeps): UpstreamNode {
  const { nodes, forwarded, proven } = given
  const served = new LRUCache<TransactionId, Uint8Array>({
    maxSize: servedBytes,
    sizeCalculation: ({ length }) => length,
  })
  const deps: Reading = { ...given, served }
  const blocks = createRequestCoalescer<Result<BlockRow | undefined, NotServedByNode>>(maxCached)
  const transactions =
    createRequestCoalescer<Result<CarriedTransaction | undefined, NotServedByNode>>(maxCached)
  const metadata =
    createRequestCoalescer<Result<TransactionMetadata | undefined, NotServedByNode>>(maxCached)

  function transactionMetadata(id: TransactionId) {
    const query = () =>
      fetchKnown(nodes, transactionMetadataOf(id), `the state of transaction ${id}`)
    return metadata.coalesce(id, query, keepMs)
  }

  function transaction(id: TransactionId) {
    const read = async () => {
      const answer = await transactionMetadata(id)
      return answer.ok ? readTransaction(deps, id, answer.value) : answer
    }
    return transactions.coalesce(id, read, keepMs)
  }

  async function proof(id: OutputId, output: Uint8Array) {
    const what = `the proof of output ${id}`
    const answer = await fetchKept(nodes, outputOf(id), what)
    if (!answer.ok) return answer
    const { outputIdProof } = answer.value
    if (!provesOutput(id, output, outputIdProof)) return wrongAnswer(deps, what)
    proven.set(transactionOf(id), outputIdProof.transactionCommitment)
    return ok(outputIdProof)
  }

  async function outputMetadata(id: OutputId) {
    const what = `the metadata of output ${id}`
    const answer = await fetchKept(nodes, outputMetadataOf(id), what)
    return answer.ok && answer.value.outputId !== id ? wrongAnswer(deps, what) : answer
  }

  return {
    block: (id) => blocks.coalesce(id, () => readBlock(deps, id, forwarded.block(id)), keepMs),
    transaction,
    transactionMetadata,
    transactionCommitment: (id) => proven.get(id),
    proof,
    outputMetadata,
    fetch: (path, schema) => fetchKnown(nodes, coreAnswer(path, schema), path),
  }
}

async function fetchKnown<T>(
  nodes: Nodes,
  query: NodeQuery<T>,
  what: string,
): Promise<Result<T | undefined, NotServedByNode>> {
  const answer = await nodes.fetch(query)
  if (answer.ok) return answer
  const { error } = answer
  if (error.code === 'NODES_AWAY') return err({ code: 'NOT_TOLD_BY_NODE', what })
  return err({ code: 'NOT_TOLD_BY_NODE', what, unreadable: error.reason })
}

/** Fetches an item of the ledger, which a node has unless it removed it. */
async function fetchKept<T>(
  nodes: Nodes,
  query: NodeQuery<T>,
  what: string,
): Promise<Result<T, NotServedByNode>> {
  const answer = await fetchKnown(nodes, query, what)
  if (!answer.ok) return answer
  return answer.value === undefined ? err({ code: 'NOT_KEPT_BY_NODE', what }) : ok(answer.value)
}

/** Fetches a block and its state. For a block that this process forwarded, fetches only the state. */
async function readBlock(
  deps: Reading,
  id: BlockId,
  own: CheckedBlock | undefined,
): Promise<Result<BlockRow | undefined, NotServedByNode>> {
  const { nodes, network, committedSlot } = deps
  const what = `block ${id}`
  const [bytes, metadata] = await Promise.all([
    own === undefined ? fetchKnown(nodes, blockOf(id), what) : ok(own.bytes),
    fetchKnown(nodes, blockMetadataOf(id), `the state of ${what}`),
  ])
  if (!bytes.ok) return bytes
  if (!metadata.ok) return metadata
  if (bytes.value === undefined) return ok(undefined)
  // No block enters a committed slot, so a block that the nodes do not know by now was lost or removed.
  const isLost = metadata.value === undefined && own !== undefined && own.slot <= committedSlot()
  if (isLost) return ok(undefined)
  const read = nodeBlock(network, bytes.value)
  if (read?.row.blockId !== id) return wrongAnswer(deps, what)
  const row = { ...read.row, state: blockStateOf(metadata.value) }
  if (row.transactionId !== undefined) deps.served.set(row.transactionId, row.bytes)
  if (isFinal(deps, row)) await storeFinal(deps, read, row, [])
  return ok(row)
}

/** Fetches the block of a transaction whose metadata is known. */
async function readTransaction(
  deps: Reading,
  id: TransactionId,
  metadata: TransactionMetadata | undefined,
): Promise<Result<CarriedTransaction | undefined, NotServedByNode>> {
  const { nodes, network, forwarded, committedSlot } = deps
  const carriers = forwarded.carriers(id)
  const own = carriers.at(-1)
  const state = stateNamed(transactionStates, metadata?.transactionState)
  // As in `readBlock`: what the nodes do not know by now was lost.
  if (state === undefined && (own === undefined || own.slot <= committedSlot()))
    return ok(undefined)
  const what = `the block of transaction ${id}`
  const included = await fetchKnown(nodes, includedBlockOf(id), what)
  if (!included.ok) return included
  // Only the node knows which of several carriers was booked, and the carriers may differ in their unlocks.
  const isAny = state === undefined || !isBooked(state)
  const ownBytes = isAny || carriers.length === 1 ? own?.bytes : undefined
  const bytes = included.value ?? ownBytes ?? (isAny ? deps.served.get(id) : undefined)
  if (bytes === undefined) {
    // A node soon has the block of a transaction that is not final.
    const isOver = state === 'FAILED' || state === 'FINALIZED'
    return err({ code: isOver ? 'NOT_KEPT_BY_NODE' : 'NOT_TOLD_BY_NODE', what })
  }
  const read = nodeBlock(network, bytes)
  if (read?.row.transactionId !== id) return wrongAnswer(deps, what)
  const failureReason = state === 'FAILED' ? metadata?.transactionFailureReason : undefined
  return ok(
    await carried(deps, read, { transactionId: id, state: state ?? 'PENDING', failureReason }),
  )
}

/** Derives the state of the block from the transaction: the block of a booked transaction is accepted. */
async function carried(
  deps: UpstreamNodeDeps,
  read: NodeBlock,
  of: Pick<TransactionRow, 'transactionId' | 'state' | 'failureReason'>,
): Promise<CarriedTransaction> {
  const { blockId, slot } = read.row
  const { state } = of
  const isOfBlock = state === 'PENDING' || state === 'FINALIZED'
  const block: BlockRow = { ...read.row, state: isOfBlock ? state : 'ACCEPTED' }
  const transaction = { ...of, blockId, slot }
  if (state === 'FINALIZED' && isFinal(deps, block)) {
    await storeFinal(deps, read, block, [{ ...transaction, state }])
  }
  return { transaction, block }
}

/** The content of a block never changes, but the node may drop the block until its slot is committed here. */
function isFinal({ committedSlot }: UpstreamNodeDeps, { state, slot }: BlockRow): boolean {
  return state === 'FINALIZED' && slot <= committedSlot()
}

function storeFinal(
  { write }: UpstreamNodeDeps,
  { parents }: NodeBlock,
  row: BlockRow,
  transactions: FinalBlocks['transactions'],
): Promise<void> {
  return write.storeFinalBlocks({ blocks: [{ ...row, parents }], transactions })
}

function wrongAnswer({ log }: UpstreamNodeDeps, what: string): Result<never, NotServedByNode> {
  log.error('node-told-something-else', { what })
  return err({ code: 'NOT_TOLD_BY_NODE', what })
}

/** Maximum size of the cached blocks with transactions, in bytes. */
const servedBytes = 8_388_608

/** Maximum number of cached responses of each kind. */
const maxCached = 10_000

/** Milliseconds for which a response is cached. States may change, and final items are in the database. */
function keepMs(answer: Result<unknown, NotServedByNode>): number {
  if (!answer.ok) return 500
  return answer.value === undefined ? 1_000 : 200
}

/** A block without metadata is pending: the node will soon know a block that was just forwarded. */
function blockStateOf(metadata: BlockMetadata | undefined): BlockState {
  const name = metadata?.blockState
  return name === 'orphaned' ? 'DROPPED' : (stateNamed(blockStates, name) ?? 'PENDING')
}

/** Nodes write the names of states in lower case. */
function stateNamed<S extends string>(
  states: readonly S[],
  name: string | undefined,
): S | undefined {
  return states.find((state) => state.toLowerCase() === name)
}

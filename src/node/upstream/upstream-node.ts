import type { LRUCache } from 'lru-cache'
import type { Hex } from '../../lib/hex.ts'
import type { Log } from '../../lib/log.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { OutputIdProof } from '../../protocol/commitment.ts'
import { transactionOf } from '../../protocol/ids.ts'
import type { Network } from '../../protocol/network.ts'
import type { BlockMetadata, TransactionMetadata } from '../../protocol/node-answers.ts'
import type { BlockId, OutputId, SlotIndex, TransactionId } from '../../protocol/primitives.ts'
import { provesOutput } from '../../protocol/proofs.ts'
import type { Schema } from '../../protocol/schema/schema.ts'
import type { StoreWriter } from '../../store/contract.ts'
import type { BlockRow, BlockState, TransactionState } from '../../store/rows.ts'
import type { CarriedTransaction, NotServedByNode, UpstreamNode } from '../source.ts'
import type { ForwardedBlocks } from './forwarded-blocks.ts'
import { type NodeBlock, nodeBlock } from './node-block.ts'
import type { Nodes } from './nodes.ts'
import {
  blockMetadataOf,
  blockOf,
  coreAnswer,
  includedBlockOf,
  outputMetadataOf,
  outputOf,
  type Question,
  transactionMetadataOf,
} from './questions.ts'
import { createRequestCoalescer } from './request-coalescer.ts'

/** What the nodes behind are asked for by those who read: blocks, transactions and whatever else is not kept here. */

/** What asking needs. */
export interface UpstreamNodeDeps {
  readonly nodes: Nodes
  readonly network: Network
  readonly write: Pick<StoreWriter, 'keepFinal'>
  readonly log: Log
  readonly forwarded: ForwardedBlocks
  /** The hashes of essences that proofs told of late. */
  readonly proven: LRUCache<TransactionId, Hex>
  /** What lies beyond it may still change. */
  readonly committedSlot: () => SlotIndex
}

/** The nodes behind, as those who read see them. */
export function createUpstreamNode(deps: UpstreamNodeDeps): UpstreamNode {
  const { nodes, network, write, log, forwarded, proven, committedSlot } = deps
  const blocks =
    createRequestCoalescer<Result<BlockRow | undefined, NotServedByNode>>(mostRemembered)
  const transactions =
    createRequestCoalescer<Result<CarriedTransaction | undefined, NotServedByNode>>(mostRemembered)
  const metadata =
    createRequestCoalescer<Result<TransactionMetadata | undefined, NotServedByNode>>(mostRemembered)

  function block(id: BlockId): Promise<Result<BlockRow | undefined, NotServedByNode>> {
    return blocks.coalesce(id, () => askBlock(id), keepMs)
  }

  async function askBlock(id: BlockId): Promise<Result<BlockRow | undefined, NotServedByNode>> {
    const what = `block ${id}`
    const [told, stands] = await Promise.all([
      bytesOfBlock(id),
      asked(blockMetadataOf(id), `where ${what} stands`),
    ])
    if (!told.ok) return told
    if (!stands.ok) return stands
    if (told.value === undefined) return ok(undefined)
    const read = nodeBlock(network, told.value)
    if (read?.row.blockId !== id) return lied(what)
    const row = { ...read.row, state: blockStateOf(stands.value) }
    if (isFinal(row))
      await write.keepFinal({ blocks: [{ ...row, parents: read.parents }], transactions: [] })
    return ok(row)
  }

  async function bytesOfBlock(
    id: BlockId,
  ): Promise<Result<Uint8Array | undefined, NotServedByNode>> {
    const own = forwarded.block(id)
    return own === undefined ? asked(blockOf(id), `block ${id}`) : ok(own.bytes)
  }

  function transactionMetadata(id: TransactionId) {
    const question = () => asked(transactionMetadataOf(id), `where transaction ${id} stands`)
    return metadata.coalesce(id, question, keepMs)
  }

  function transaction(id: TransactionId) {
    return transactions.coalesce(id, () => askTransaction(id), keepMs)
  }

  async function askTransaction(
    id: TransactionId,
  ): Promise<Result<CarriedTransaction | undefined, NotServedByNode>> {
    const stands = await transactionMetadata(id)
    if (!stands.ok) return stands
    const handed = forwarded.carriers(id)
    const own = handed.at(-1)
    const state = transactionStateOf(stands.value)
    if (state === undefined && own === undefined) return ok(undefined)
    const what = `the block of transaction ${id}`
    const included = await asked(includedBlockOf(id), what)
    if (!included.ok) return included
    // Which of several carriers was booked only the node knows; they may differ in their unlocks.
    const isOwn = handed.length === 1 || state === undefined || !isBooked(state)
    const bytes = included.value ?? (isOwn ? own?.bytes : undefined)
    if (bytes === undefined) return err({ code: 'NOT_TOLD_BY_NODE', what })
    const read = nodeBlock(network, bytes)
    if (read?.row.transactionId !== id) return lied(what)
    return ok(await carried(read, id, { state: state ?? 'PENDING', told: stands.value }))
  }

  /** The block of a transaction that is booked is accepted with it. */
  async function carried(
    read: NodeBlock,
    transactionId: TransactionId,
    { state, told }: { state: TransactionState; told: TransactionMetadata | undefined },
  ): Promise<CarriedTransaction> {
    const { blockId, slot } = read.row
    const blockState = state === 'PENDING' ? state : state === 'FINALIZED' ? state : 'ACCEPTED'
    const row: BlockRow = { ...read.row, state: blockState }
    const reason = told?.transactionFailureReason
    const failureReason = state === 'FAILED' ? reason : undefined
    const transaction = { transactionId, blockId, slot, state, failureReason }
    if (state === 'FINALIZED' && isFinal(row)) {
      const transactions = [{ ...transaction, state }]
      await write.keepFinal({ blocks: [{ ...row, parents: read.parents }], transactions })
    }
    return { transaction, block: row }
  }

  /** What a block says cannot change, but whether it stays does until its slot is committed here. */
  function isFinal({ state, slot }: Pick<BlockRow, 'state' | 'slot'>): boolean {
    return state === 'FINALIZED' && slot <= committedSlot()
  }

  async function proof(id: OutputId, output: Uint8Array): Promise<OutputIdProof | undefined> {
    const told = await nodes.ask(outputOf(id))
    if (!told.ok || told.value === undefined) return undefined
    const { outputIdProof } = told.value
    if (!provesOutput(id, output, outputIdProof)) return undefined
    proven.set(transactionOf(id), outputIdProof.transactionCommitment)
    return outputIdProof
  }

  async function outputMetadata(id: OutputId) {
    const told = await nodes.ask(outputMetadataOf(id))
    return told.ok && told.value?.outputId === id ? told.value : undefined
  }

  async function asked<T>(
    question: Question<T>,
    what: string,
  ): Promise<Result<T | undefined, NotServedByNode>> {
    const told = await nodes.ask(question)
    if (told.ok) return told
    const { error } = told
    if (error.code === 'NODES_AWAY') return err({ code: 'NOT_TOLD_BY_NODE', what })
    return err({ code: 'NOT_TOLD_BY_NODE', what, unreadable: error.reason })
  }

  function lied(what: string): Result<never, NotServedByNode> {
    log.error('node-told-something-else', { what })
    return err({ code: 'NOT_TOLD_BY_NODE', what })
  }

  return {
    block,
    transaction,
    transactionMetadata,
    transactionCommitment: (id) => proven.get(id),
    proof,
    outputMetadata,
    ask: <T>(path: string, schema: Schema<T>) => asked(coreAnswer(path, schema), path),
  }
}

function isBooked(state: TransactionState): boolean {
  return state !== 'PENDING' && state !== 'FAILED'
}

/** Answers that are remembered of each kind. */
const mostRemembered = 10_000

/** Unknown things are not asked for again at once; what is known may change, and what is final is in the database. */
function keepMs(answer: Result<unknown, NotServedByNode>): number {
  if (!answer.ok) return 500
  return answer.value === undefined ? 1_000 : 200
}

/** A node that does not know the block yet will: it was handed on. */
function blockStateOf(told: BlockMetadata | undefined): BlockState {
  switch (told?.blockState) {
    case 'accepted':
      return 'ACCEPTED'
    case 'confirmed':
      return 'CONFIRMED'
    case 'finalized':
      return 'FINALIZED'
    case 'dropped':
    case 'orphaned':
      return 'DROPPED'
    default:
      return 'PENDING'
  }
}

function transactionStateOf(told: TransactionMetadata | undefined): TransactionState | undefined {
  switch (told?.transactionState) {
    case 'pending':
      return 'PENDING'
    case 'accepted':
      return 'ACCEPTED'
    case 'committed':
      return 'COMMITTED'
    case 'finalized':
      return 'FINALIZED'
    case 'failed':
      return 'FAILED'
    default:
      return undefined
  }
}

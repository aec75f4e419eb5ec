import type { LRUCache } from 'lru-cache'
import type { Hex } from '../../lib/hex.ts'
import { inParallel } from '../../lib/in-parallel.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { OutputIdProof } from '../../protocol/commitment.ts'
import { byIndex, transactionOf } from '../../protocol/ids.ts'
import { inNodeOrder, isOrderOpen } from '../../protocol/metadata-order.ts'
import type { OutputMetadata, UtxoChangesFull } from '../../protocol/node-responses.ts'
import type { Output } from '../../protocol/outputs.ts'
import type { BlockId, OutputId, SlotIndex, TransactionId } from '../../protocol/primitives.ts'
import type { Contradiction } from '../contradiction.ts'
import type { AnswerUnreadable } from '../unreadable.ts'
import { type CreatedOutput, checkCreated, checkSpent, provesAll } from './check.ts'
import { outputMetadataOf, outputOf } from './node-queries.ts'
import { fetchRequired, type Node, type NodeFailed } from './nodes.ts'

/** Fetches the provenance of the outputs of some slots: their proofs, their blocks and the transactions that spent them. */

/** The provenance of the requested outputs. In a mode without proofs few outputs are requested. */
export interface Provenance {
  readonly blocks: ReadonlyMap<OutputId, BlockId>
  readonly spenders: ReadonlyMap<OutputId, TransactionId>
  /** Outputs in the order of their proofs, where the order of their metadata is ambiguous in JSON. */
  readonly proven: ReadonlyMap<OutputId, Output>
}

export interface SlotChanges {
  readonly slot: SlotIndex
  readonly changes: UtxoChangesFull
}

type Failed = NodeFailed | AnswerUnreadable | Contradiction
type Checked = Result<unknown, Failed>

export interface ProvenanceDeps {
  readonly node: Node
  /** Maximum number of concurrent requests. */
  readonly limit: number
  /** Stores the hashes of transaction essences from the proofs. */
  readonly proven: Pick<LRUCache<TransactionId, Hex>, 'set'>
}

export async function fetchProvenance(
  { node, limit, proven: essences }: ProvenanceDeps,
  slots: readonly SlotChanges[],
): Promise<Result<Provenance, Failed>> {
  const blocks = new Map<OutputId, BlockId>()
  const spenders = new Map<OutputId, TransactionId>()
  const proven = new Map<OutputId, Output>()
  const metadataById = new Map<OutputId, OutputMetadata>()

  /** One proof covers all outputs of a transaction if the changes have all of them; otherwise each output needs its own. */
  async function proveTransaction({ slot, outputs }: TransactionOutputs): Promise<Checked> {
    for (const [i, created] of outputs.entries()) {
      const answer = await fetchRequired(
        node,
        outputOf(created.outputId),
        `output ${created.outputId}`,
      )
      if (!answer.ok) return err(ofSlot(answer.error, slot))
      const checked = checkCreated(slot, created, answer.value)
      if (!checked.ok) return checked
      const { metadata, outputIdProof } = answer.value
      metadataById.set(created.outputId, metadata)
      essences.set(transactionOf(created.outputId), outputIdProof.transactionCommitment)
      const all = i === 0 ? provenTogether(outputs, outputIdProof) : undefined
      for (const { outputId, output } of all ?? [{ ...created, output: checked.value }]) {
        blocks.set(outputId, metadata.blockId)
        if (isOrderOpen(output)) proven.set(outputId, output)
      }
      if (all !== undefined) break
    }
    return ok(undefined)
  }

  async function findSpender({ slot, outputId }: Consumed): Promise<Checked> {
    const known = metadataById.get(outputId)
    const metadata =
      known?.spent === undefined
        ? await fetchRequired(node, outputMetadataOf(outputId), `output ${outputId}`)
        : ok(known)
    if (!metadata.ok) return err(ofSlot(metadata.error, slot))
    const spender = checkSpent(slot, outputId, metadata.value)
    if (spender.ok) spenders.set(outputId, spender.value)
    return spender
  }

  const created = await inParallel(slots.flatMap(transactionsOf), limit, proveTransaction)
  if (!created.ok) return created
  const consumed = await inParallel(slots.flatMap(consumedIn), limit, findSpender)
  return consumed.ok ? ok({ blocks, spenders, proven }) : consumed
}

/**
 * The outputs of a transaction in the order of metadata that a proof confirms, the order of the SDK or the order of the node;
 * `undefined` if the proof confirms neither.
 */
function provenTogether(
  outputs: readonly CreatedOutput[],
  proof: OutputIdProof,
): readonly CreatedOutput[] | undefined {
  if (provesAll(outputs, proof)) return outputs
  if (!outputs.some(({ output }) => isOrderOpen(output))) return undefined
  const ordered = outputs.map((created) => ({ ...created, output: inNodeOrder(created.output) }))
  return provesAll(ordered, proof) ? ordered : undefined
}

/** Adds the slot to an unreadable response about one of its outputs. */
function ofSlot<E extends NodeFailed | AnswerUnreadable>(error: E, slot: SlotIndex): E {
  return error.code === 'NODE_ANSWER_UNREADABLE' ? { ...error, slot } : error
}

/** The outputs that a transaction created, by index. */
interface TransactionOutputs {
  readonly slot: SlotIndex
  readonly outputs: readonly CreatedOutput[]
}

function transactionsOf({ slot, changes }: SlotChanges): TransactionOutputs[] {
  const byTransaction = Map.groupBy(changes.createdOutputs, ({ outputId }) =>
    transactionOf(outputId),
  )
  return [...byTransaction.values()].map((outputs) => ({
    slot,
    outputs: outputs.sort(byIndex),
  }))
}

interface Consumed {
  readonly slot: SlotIndex
  readonly outputId: OutputId
}

function consumedIn({ slot, changes }: SlotChanges): Consumed[] {
  return changes.consumedOutputs.map(({ outputId }) => ({ slot, outputId }))
}

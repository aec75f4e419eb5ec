import type { LRUCache } from 'lru-cache'
import type { Hex } from '../../lib/hex.ts'
import { inParallel } from '../../lib/in-parallel.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { OutputIdProof } from '../../protocol/commitment.ts'
import { indexOf, transactionOf } from '../../protocol/ids.ts'
import { inNodeOrder, isOrderOpen } from '../../protocol/metadata-order.ts'
import type { OutputMetadata, UtxoChangesFull } from '../../protocol/node-answers.ts'
import type { Output } from '../../protocol/outputs.ts'
import type { BlockId, OutputId, SlotIndex, TransactionId } from '../../protocol/primitives.ts'
import type { Contradiction } from '../contradiction.ts'
import type { AnswerUnreadable } from '../unreadable.ts'
import { type CreatedOutput, checkCreated, checkSpent, provesAll } from './check.ts'
import { outputMetadataOf, outputOf } from './node-queries.ts'
import { type Node, type NodeFailed, needed } from './nodes.ts'

/** Fetches the provenance of the outputs of some slots, one by one: their proofs, their blocks and what spent them. */

/** The provenance of the outputs that were asked for; without proofs hardly any are. */
export interface Provenance {
  readonly blocks: ReadonlyMap<OutputId, BlockId>
  readonly spenders: ReadonlyMap<OutputId, TransactionId>
  /** The outputs as their proofs have them, where JSON leaves the order of their metadata open. */
  readonly proven: ReadonlyMap<OutputId, Output>
}

/** The changes of a slot. */
export interface SlotChanges {
  readonly slot: SlotIndex
  readonly changes: UtxoChangesFull
}

type Failed = NodeFailed | AnswerUnreadable | Contradiction
type Checked = Result<unknown, Failed>
type Created = CreatedOutput

/** What fetching needs. */
export interface ProvenanceDeps {
  readonly node: Node
  /** The most requests at a time. */
  readonly limit: number
  /** Receives the hashes of essences from the proofs. */
  readonly proven: Pick<LRUCache<TransactionId, Hex>, 'set'>
}

/** Fetches the provenance and checks it. */
export async function fetchProvenance(
  { node, limit, proven: essences }: ProvenanceDeps,
  slots: readonly SlotChanges[],
): Promise<Result<Provenance, Failed>> {
  const blocks = new Map<OutputId, BlockId>()
  const spenders = new Map<OutputId, TransactionId>()
  const proven = new Map<OutputId, Output>()
  const metadataById = new Map<OutputId, OutputMetadata>()

  /** One proof is enough for all outputs of a transaction, if they are all there; else each needs its own. */
  async function proveTransaction({ slot, outputs }: CreatedTogether): Promise<Checked> {
    for (const [i, one] of outputs.entries()) {
      const answer = await needed(node, outputOf(one.outputId), `output ${one.outputId}`)
      if (!answer.ok) return err(ofSlot(answer.error, slot))
      const checked = checkCreated(slot, one, answer.value)
      if (!checked.ok) return checked
      const { metadata, outputIdProof } = answer.value
      metadataById.set(one.outputId, metadata)
      essences.set(transactionOf(one.outputId), outputIdProof.transactionCommitment)
      const all = i === 0 ? provenTogether(outputs, outputIdProof) : undefined
      for (const { outputId, output } of all ?? [{ ...one, output: checked.value }]) {
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
        ? await needed(node, outputMetadataOf(outputId), `output ${outputId}`)
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

/** All outputs of a transaction as one proof has them: with metadata in the order of the SDK, or in that of the node. */
function provenTogether(
  outputs: readonly Created[],
  proof: OutputIdProof,
): readonly Created[] | undefined {
  if (provesAll(outputs, proof)) return outputs
  if (!outputs.some(({ output }) => isOrderOpen(output))) return undefined
  const ordered = outputs.map((one) => ({ ...one, output: inNodeOrder(one.output) }))
  return provesAll(ordered, proof) ? ordered : undefined
}

/** Adds the slot to an unreadable answer about one of its outputs. */
function ofSlot<E extends NodeFailed | AnswerUnreadable>(error: E, slot: SlotIndex): E {
  return error.code === 'NODE_ANSWER_UNREADABLE' ? { ...error, slot } : error
}

/** The outputs that a transaction created, by index. */
interface CreatedTogether {
  readonly slot: SlotIndex
  readonly outputs: readonly Created[]
}

function transactionsOf({ slot, changes }: SlotChanges): CreatedTogether[] {
  const byTransaction = new Map<TransactionId, Created[]>()
  for (const one of changes.createdOutputs) {
    const id = transactionOf(one.outputId)
    const outputs = byTransaction.get(id)
    if (outputs === undefined) byTransaction.set(id, [one])
    else outputs.push(one)
  }
  return [...byTransaction.values()].map((outputs) => ({
    slot,
    outputs: outputs.sort((a, b) => indexOf(a.outputId) - indexOf(b.outputId)),
  }))
}

interface Consumed {
  readonly slot: SlotIndex
  readonly outputId: OutputId
}

function consumedIn({ slot, changes }: SlotChanges): Consumed[] {
  return changes.consumedOutputs.map(({ outputId }) => ({ slot, outputId }))
}

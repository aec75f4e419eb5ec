import type { Hex } from '../../lib/hex.ts'
import { inParallel } from '../../lib/in-parallel.ts'
import type { Newest } from '../../lib/newest.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { indexOf, transactionOf } from '../../protocol/ids.ts'
import type { OutputMetadata, UtxoChangesFull } from '../../protocol/node-answers.ts'
import type { BlockId, OutputId, SlotIndex, TransactionId } from '../../protocol/primitives.ts'
import { checkCreated, checkSpent, provesAll } from './check.ts'
import type { Contradiction } from './contradiction.ts'
import { type Node, type NodeFailed, needed } from './nodes.ts'
import { outputMetadataOf, outputOf } from './questions.ts'

/** What became of the outputs of some slots, asked for by themselves: their proofs, their blocks, what spent them. */

/** As far as it was asked for; without proofs nothing is. */
export interface Lives {
  readonly blocks: ReadonlyMap<OutputId, BlockId>
  readonly spenders: ReadonlyMap<OutputId, TransactionId>
}

/** Nothing was asked for. */
export const noLives: Lives = { blocks: new Map(), spenders: new Map() }

/** The changes of a slot. */
export interface SlotChanges {
  readonly slot: SlotIndex
  readonly changes: UtxoChangesFull
}

type Checked = Result<unknown, NodeFailed | Contradiction>
type Created = UtxoChangesFull['createdOutputs'][number]

/** What asking needs. */
export interface LivesDeps {
  readonly node: Node
  /** Questions that are under way together. */
  readonly limit: number
  /** Takes the hashes of essences that the proofs tell. */
  readonly proven: Pick<Newest<TransactionId, Hex>, 'add'>
}

/** Asks, and checks what is told. */
export async function fetchLives(
  { node, limit, proven }: LivesDeps,
  slots: readonly SlotChanges[],
): Promise<Result<Lives, NodeFailed | Contradiction>> {
  const blocks = new Map<OutputId, BlockId>()
  const spenders = new Map<OutputId, TransactionId>()
  const told = new Map<OutputId, OutputMetadata>()

  /** One proof is enough for all outputs of a transaction, if they are all there; else each needs its own. */
  async function proveTransaction({ slot, outputs }: CreatedTogether): Promise<Checked> {
    for (const [i, one] of outputs.entries()) {
      const output = await needed(node, outputOf(one.outputId), `output ${one.outputId}`)
      if (!output.ok) return output
      const contradiction = checkCreated(slot, one, output.value)
      if (contradiction !== undefined) return err(contradiction)
      const { metadata, outputIdProof } = output.value
      told.set(one.outputId, metadata)
      proven.add(transactionOf(one.outputId), outputIdProof.transactionCommitment)
      const isLast = i === 0 && provesAll(outputs, outputIdProof)
      for (const { outputId } of isLast ? outputs : [one]) blocks.set(outputId, metadata.blockId)
      if (isLast) break
    }
    return ok(undefined)
  }

  async function findSpender({ slot, outputId }: Consumed): Promise<Checked> {
    const known = told.get(outputId)
    const metadata =
      known?.spent === undefined
        ? await needed(node, outputMetadataOf(outputId), `output ${outputId}`)
        : ok(known)
    if (!metadata.ok) return metadata
    const spender = checkSpent(slot, outputId, metadata.value)
    if (spender.ok) spenders.set(outputId, spender.value)
    return spender
  }

  const created = await inParallel(slots.flatMap(transactionsOf), limit, proveTransaction)
  if (!created.ok) return created
  const consumed = await inParallel(slots.flatMap(consumedIn), limit, findSpender)
  return consumed.ok ? ok({ blocks, spenders }) : consumed
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

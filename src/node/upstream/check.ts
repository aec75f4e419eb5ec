import type { CommittedSlot } from '../../ledger/commit-slot.ts'
import { assert } from '../../lib/assert.ts'
import { bytesToHex } from '../../lib/hex.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { type OutputIdProof, SlotCommitment } from '../../protocol/commitment.ts'
import { commitmentId, outputId, transactionIdOf } from '../../protocol/ids.ts'
import { merkleRoot } from '../../protocol/merkle.ts'
import { inSdkOrder, isOrderOpen, readingsOf } from '../../protocol/metadata-order.ts'
import type {
  OutputMetadata,
  OutputWithMetadata,
  UtxoChangesFull,
} from '../../protocol/node-answers.ts'
import { Output } from '../../protocol/outputs.ts'
import type { OutputId, SlotIndex, TransactionId } from '../../protocol/primitives.ts'
import { provesOutput } from '../../protocol/proofs.ts'
import { decode, encode } from '../../protocol/schema/schema.ts'
import type { OutputRow } from '../../store/rows.ts'
import type { Contradiction, OutputPlaceWrong } from '../contradiction.ts'

/** The checks of the slots that a node serves, before anything of them is written. Pure. */

/** Checks the commitment to the slot after `former`: its id is computed here, and it must name the former one. */
export function checkCommitment(
  former: CommittedSlot,
  served: SlotCommitment,
): Result<CommittedSlot, Contradiction> {
  const { slot, previousCommitmentId } = served
  const expected = former.commitmentId
  if (slot !== former.commitment.slot + 1 || previousCommitmentId !== expected) {
    const code = 'COMMITMENT_OF_ANOTHER_CHAIN'
    return err({ code, slot: former.commitment.slot + 1, expected, told: previousCommitmentId })
  }
  return ok(committed(served))
}

/** A commitment with its id. */
export function committed(commitment: SlotCommitment): CommittedSlot {
  const bytes = encode(SlotCommitment, commitment)
  return { commitment, commitmentId: commitmentId(commitment), bytes }
}

/** The known outputs, with the changes of the slots that were checked before. */
export type KnownOutputs = Map<OutputId, Pick<OutputRow, 'bytes' | 'spentSlot'>>

/**
 * Checks the changes of a slot against the known outputs: created outputs are new, consumed ones are known, unspent and
 * unchanged, and the sums are the same. Adds the changes to `known`.
 */
export function checkChanges(
  { commitment, commitmentId: computed }: CommittedSlot,
  changes: UtxoChangesFull,
  known: KnownOutputs,
): Contradiction | undefined {
  const { slot } = commitment
  const { commitmentId: served, createdOutputs, consumedOutputs } = changes
  if (served !== computed) {
    return { code: 'COMMITMENT_ID_WRONG', slot, computed, told: served }
  }
  for (const { outputId, output } of createdOutputs) {
    if (known.has(outputId)) return { code: 'OUTPUT_NOT_NEW', slot, outputId }
    known.set(outputId, { bytes: encode(Output, output), spentSlot: undefined })
  }
  for (const { outputId, output } of consumedOutputs) {
    const former = known.get(outputId)
    if (former === undefined) return { code: 'OUTPUT_NOT_KNOWN', slot, outputId }
    if (former.spentSlot !== undefined) return { code: 'OUTPUT_SPENT_BEFORE', slot, outputId }
    if (!isSame(former.bytes, output)) return { code: 'OUTPUT_DIFFERS', slot, outputId }
    known.set(outputId, { ...former, spentSlot: slot })
  }
  const [created, consumed] = [sumOf(createdOutputs), sumOf(consumedOutputs)]
  if (created === consumed) return undefined
  return { code: 'BASE_TOKENS_UNBALANCED', slot, created, consumed }
}

/**
 * Checks an output that a slot created against the node's answer about that output. JSON has no order, so the proof
 * decides that of the metadata: returns the output in that order.
 */
export function checkCreated(
  slot: SlotIndex,
  { outputId, output }: CreatedOutput,
  served: OutputWithMetadata,
): Result<Output, Contradiction> {
  if (!isSame(encode(Output, output), served.output)) {
    return err({ code: 'OUTPUT_DIFFERS', slot, outputId })
  }
  const proven = readingsOf(output).find((reading) =>
    provesOutput(outputId, encode(Output, reading), served.outputIdProof),
  )
  if (proven === undefined) return err({ code: 'OUTPUT_PROOF_WRONG', slot, outputId })
  const { included } = served.metadata
  if (served.metadata.outputId === outputId && included.slot === slot) return ok(proven)
  return err(placeWrong(slot, outputId, included.transactionId))
}

/** An output as the changes of a slot have it. */
export type CreatedOutput = UtxoChangesFull['createdOutputs'][number]

/**
 * Whether the proof of one output of a transaction proves all of these: they are its outputs from the first to the last,
 * for the root over them leads to its id.
 */
export function provesAll(
  outputs: readonly CreatedOutput[],
  { transactionCommitment, slot }: OutputIdProof,
): boolean {
  const leaves = outputs.map(({ output }) => encode(Output, output))
  const root = bytesToHex(merkleRoot(leaves))
  const transactionId = transactionIdOf(transactionCommitment, root, slot)
  return outputs.every(({ outputId: id }, index) => id === outputId(transactionId, index))
}

/** Which transaction spent an output in a slot. */
export function checkSpent(
  slot: SlotIndex,
  outputId: OutputId,
  { outputId: of, spent }: OutputMetadata,
): Result<TransactionId, Contradiction> {
  if (of === outputId && spent?.slot === slot) return ok(spent.transactionId)
  return err(placeWrong(slot, outputId, spent?.transactionId))
}

function placeWrong(
  slot: SlotIndex,
  outputId: OutputId,
  transactionId: TransactionId | undefined,
): OutputPlaceWrong {
  return { code: 'OUTPUT_PLACE_WRONG', slot, outputId, transactionId }
}

/** Whether an output in JSON, which has no order, is that of the bytes. */
function isSame(bytes: Uint8Array, output: Output): boolean {
  if (Buffer.compare(bytes, encode(Output, output)) === 0) return true
  if (!isOrderOpen(output)) return false
  const known = decode(Output, bytes)
  assert(known.ok, 'a stored output decodes')
  const [one, other] = [inSdkOrder(known.value), inSdkOrder(output)]
  return Buffer.compare(encode(Output, one), encode(Output, other)) === 0
}

function sumOf(outputs: UtxoChangesFull['createdOutputs']): bigint {
  return outputs.reduce((sum, { output }) => sum + output.amount, 0n)
}

import { type CommittedSlot, identifyCommitment } from '../../ledger/commit-slot.ts'
import { bytesToHex } from '../../lib/hex.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { OutputIdProof, SlotCommitment } from '../../protocol/commitment.ts'
import { outputId, transactionIdOf } from '../../protocol/ids.ts'
import { merkleRoot } from '../../protocol/merkle.ts'
import { inSdkOrder, isOrderOpen, readingsOf } from '../../protocol/metadata-order.ts'
import type {
  OutputMetadata,
  OutputWithMetadata,
  UtxoChangesFull,
} from '../../protocol/node-responses.ts'
import { Output } from '../../protocol/outputs.ts'
import type { OutputId, SlotIndex, TransactionId } from '../../protocol/primitives.ts'
import { provesOutput } from '../../protocol/proofs.ts'
import { encode } from '../../protocol/schema/schema.ts'
import { decodeStored } from '../../protocol/stored.ts'
import type { OutputRow } from '../../store/rows.ts'
import type { Contradiction, OutputPlaceWrong } from '../contradiction.ts'

/** Checks the slots that a node serves before they are written. Pure functions. */

/** Checks the commitment to the slot after `former`. The commitment must name `former` as its predecessor; its id is computed here. */
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
  return ok(identifyCommitment(served))
}

/** The known outputs, including the changes of the slots checked before. */
export type KnownOutputs = Map<OutputId, Pick<OutputRow, 'bytes' | 'spentSlot'>>

/**
 * Checks the changes of a slot against the known outputs: created outputs must be new, consumed outputs must be known, unspent and
 * unchanged, and both sums must be equal. Adds the changes to `known`.
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
 * Checks a created output against the node's response for that output. JSON has no order, so the proof decides the order of the
 * metadata entries. Returns the output in that order.
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

export type CreatedOutput = UtxoChangesFull['createdOutputs'][number]

/**
 * Whether the proof of one output of a transaction proves all `outputs`. It does if they are all outputs of the transaction in order:
 * then the root over them leads to the transaction id.
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

/** Returns the transaction that spent an output in a slot, and checks the output id and the slot. */
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

/** Whether an output from JSON, which has no order, equals the output in `bytes`. */
function isSame(bytes: Uint8Array, output: Output): boolean {
  if (Buffer.compare(bytes, encode(Output, output)) === 0) return true
  if (!isOrderOpen(output)) return false
  const known = decodeStored(Output, bytes)
  const [former, served] = [inSdkOrder(known), inSdkOrder(output)]
  return Buffer.compare(encode(Output, former), encode(Output, served)) === 0
}

function sumOf(outputs: UtxoChangesFull['createdOutputs']): bigint {
  return outputs.reduce((sum, { output }) => sum + output.amount, 0n)
}

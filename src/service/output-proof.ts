import { assert } from '../lib/assert.ts'
import { bytesToHex, type Hex } from '../lib/hex.ts'
import { Block } from '../protocol/block.ts'
import type { OutputIdProof } from '../protocol/commitment.ts'
import { blake2b256 } from '../protocol/hash.ts'
import { identifyTransaction, indexOf, outputId, slotOfId, transactionOf } from '../protocol/ids.ts'
import { Output } from '../protocol/outputs.ts'
import type { BlockId, OutputId } from '../protocol/primitives.ts'
import { proveLeaf } from '../protocol/proofs.ts'
import { decode } from '../protocol/schema/schema.ts'
import type { StoreReader } from '../store/contract.ts'
import type { OutputRow } from '../store/rows.ts'

/** An output with the proof that it belongs to its transaction. */

/** What reading outputs needs. */
export interface ProvenOutputDeps {
  readonly store: { readonly read: Pick<StoreReader, 'output' | 'outputs' | 'block'> }
}

/** An output as the node gives it. */
export interface ProvenOutput {
  readonly row: OutputRow
  readonly output: Output
  readonly proof: OutputIdProof
}

/** Reads an output; `undefined` when there is none. Spent outputs are there too. */
export async function readProvenOutput(
  { store }: ProvenOutputDeps,
  id: OutputId,
): Promise<ProvenOutput | undefined> {
  const row = await store.read.output(id)
  if (row === undefined) return undefined
  const output = decode(Output, row.bytes)
  assert(output.ok, 'a stored output decodes')
  const transactionId = transactionOf(id)
  const siblings = await store.read.outputs(
    Array.from({ length: 128 }, (_, index) => outputId(transactionId, index)),
  )
  const leaves = siblings
    .sort((a, b) => indexOf(a.outputId) - indexOf(b.outputId))
    .map(({ bytes }) => bytes)
  const outputIndex = indexOf(id)
  const proof = {
    slot: slotOfId(transactionId),
    outputIndex,
    transactionCommitment: await transactionCommitment({ store }, row.blockId),
    outputCommitmentProof: proveLeaf(leaves, outputIndex),
  }
  return { row, output: output.value, proof }
}

/** The hash of the essence. The transaction of the genesis never existed; its hash is that of a word. */
async function transactionCommitment({ store }: ProvenOutputDeps, id: BlockId): Promise<Hex> {
  const row = await store.read.block(id)
  if (row === undefined) return bytesToHex(blake2b256(new TextEncoder().encode('genesis')))
  const block = decode(Block, row.bytes)
  assert(block.ok, 'a stored block decodes')
  const { body } = block.value
  assert(body.type === 0 && body.payload?.type === 1, 'the block of an output has a transaction')
  return identifyTransaction(body.payload.transaction).transactionCommitment
}

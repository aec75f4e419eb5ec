import { identifyGenesis } from '../ledger/genesis.ts'
import { assert, present } from '../lib/assert.ts'
import type { Hex } from '../lib/hex.ts'
import { err, ok, type Result } from '../lib/result.ts'
import type { LedgerSource } from '../node/source.ts'
import { Block } from '../protocol/block.ts'
import type { OutputIdProof } from '../protocol/commitment.ts'
import { identifyTransaction, indexOf, outputId, slotOfId, transactionOf } from '../protocol/ids.ts'
import { Output } from '../protocol/outputs.ts'
import type { OutputId } from '../protocol/primitives.ts'
import { proveLeaf, provesOutput } from '../protocol/proofs.ts'
import { decode } from '../protocol/schema/schema.ts'
import type { StoreReader } from '../store/contract.ts'
import type { OutputRow } from '../store/rows.ts'
import type { OutputNotTold } from './output-life.ts'

/** An output with the proof that it belongs to its transaction. */

/** What reading outputs needs. */
export interface ProvenOutputDeps {
  readonly store: { readonly read: Pick<StoreReader, 'output' | 'outputs' | 'block'> }
  readonly source: Pick<LedgerSource, 'network' | 'node'>
}

/** An output as the node gives it. */
export interface ProvenOutput {
  readonly row: OutputRow
  readonly output: Output
  readonly proof: OutputIdProof
}

/** Reads an output; `undefined` when there is none. Spent outputs are there too. */
export async function readProvenOutput(
  deps: ProvenOutputDeps,
  id: OutputId,
): Promise<Result<ProvenOutput | undefined, OutputNotTold>> {
  const row = await deps.store.read.output(id)
  if (row === undefined) return ok(undefined)
  const output = decode(Output, row.bytes)
  assert(output.ok, 'a stored output decodes')
  const proof = await proofOf(deps, row)
  if (proof !== undefined) return ok({ row, output: output.value, proof })
  return err({ code: 'NOT_TOLD_BY_NODE', what: `the proof of output ${id}` })
}

/** Made from the transaction where it is kept, and else the node's. */
async function proofOf(
  { store, source }: ProvenOutputDeps,
  { outputId: id, blockId, bytes }: OutputRow,
): Promise<OutputIdProof | undefined> {
  const transactionId = transactionOf(id)
  const transactionCommitment =
    (await commitmentToTransaction({ store, source }, blockId)) ??
    source.node?.transactionCommitment(transactionId)
  if (transactionCommitment === undefined) return source.node?.proof(id, bytes)
  const siblings = await store.read.outputs(
    Array.from({ length: 128 }, (_, index) => outputId(transactionId, index)),
  )
  const leaves = siblings
    .sort((a, b) => indexOf(a.outputId) - indexOf(b.outputId))
    .map((sibling) => sibling.bytes)
  const outputIndex = indexOf(id)
  const place = leaves.indexOf(present(siblings.find((one) => one.outputId === id)?.bytes, id))
  const proof = {
    slot: slotOfId(transactionId),
    outputIndex,
    transactionCommitment,
    outputCommitmentProof: proveLeaf(leaves, place),
  }
  // A node does not tell outputs that came and went in one slot; without a sibling there is no proof of our own.
  if (source.node === undefined || provesOutput(id, bytes, proof)) return proof
  return source.node.proof(id, bytes)
}

/** The hash of the essence, where the block is here. The transaction of the genesis never existed; its hash is that of a word. */
async function commitmentToTransaction(
  { store, source }: ProvenOutputDeps,
  id: OutputRow['blockId'],
): Promise<Hex | undefined> {
  const row = id && (await store.read.block(id))
  if (row === undefined) {
    const genesis = identifyGenesis(source.network.parameters, [])
    return id === genesis.blockId ? genesis.transactionCommitment : undefined
  }
  const block = decode(Block, row.bytes)
  assert(block.ok, 'a stored block decodes')
  const { body } = block.value
  assert(body.type === 0 && body.payload?.type === 1, 'the block of an output has a transaction')
  return identifyTransaction(body.payload.transaction).transactionCommitment
}

import { createGenesisTransactions, genesisBlockId } from '../../ledger/genesis.ts'
import { assert } from '../../lib/assert.ts'
import type { Hex } from '../../lib/hex.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { NotServedByNode } from '../../node/source.ts'
import type { OutputIdProof } from '../../protocol/commitment.ts'
import { byIndex, indexOf, slotOfId, transactionOf } from '../../protocol/ids.ts'
import { Output } from '../../protocol/outputs.ts'
import type { OutputId } from '../../protocol/primitives.ts'
import { createProver, provesOutput } from '../../protocol/proofs.ts'
import { carriedTransaction, decodeStored } from '../../protocol/stored.ts'
import type { OutputRow } from '../../store/rows.ts'
import type { Services } from '../services.ts'

/** An output with the proof that it belongs to its transaction. */

/** An output with its proof, as a node returns it. */
export interface ProvenOutput {
  readonly row: OutputRow
  readonly output: Output
  readonly proof: OutputIdProof
}

/** Reads an output, spent or unspent, with its proof; `undefined` if the output is not known. */
export async function readProvenOutput(
  deps: Pick<Services, 'store' | 'source'>,
  id: OutputId,
): Promise<Result<ProvenOutput | undefined, NotServedByNode>> {
  const row = await deps.store.read.output(id)
  if (row === undefined) return ok(undefined)
  const proof = await (await proverOf(deps, row))(row)
  return proof.ok ? ok({ row, output: decodeStored(Output, row.bytes), proof: proof.value }) : proof
}

/** Computes the proof of an output of one transaction. */
export type ProveOutput = (
  row: Pick<OutputRow, 'outputId' | 'bytes'>,
) => Promise<Result<OutputIdProof, NotServedByNode>>

/**
 * Creates the prover for all outputs of the transaction that created an output; their common part is read and hashed once. It
 * is computed from the transaction if that is stored; otherwise the upstream node serves the proofs.
 */
export async function proverOf(
  { store, source }: Pick<Services, 'store' | 'source'>,
  { outputId: one, blockId }: Pick<OutputRow, 'outputId' | 'blockId'>,
): Promise<ProveOutput> {
  const transactionId = transactionOf(one)
  const fetchProof: ProveOutput = async ({ outputId: id, bytes }) => {
    const what = `the proof of output ${id}`
    return (await source.node?.proof(id, bytes)) ?? err({ code: 'NOT_KEPT_BY_NODE', what })
  }
  const isFirst = blockId === genesisBlockId(source.network.parameters)
  const known = isFirst
    ? undefined
    : ((await commitmentToTransaction({ store }, blockId)) ??
      source.node?.transactionCommitment(transactionId))
  if (known === undefined && !isFirst) return fetchProof
  const siblings = (await store.read.outputsOfTransaction(transactionId)).sort(byIndex)
  const allBytes = siblings.map(({ bytes }) => bytes)
  const transactionCommitment =
    known ??
    createGenesisTransactions().commitmentOf(
      transactionId,
      allBytes,
      source.node ? maxEqualTransactions : undefined,
    )
  if (transactionCommitment === undefined) return fetchProof
  const prove = createProver(allBytes)
  return async ({ outputId: id, bytes }) => {
    const index = siblings.findIndex((sibling) => sibling.outputId === id)
    assert(index !== -1, 'an output is among those of its transaction')
    const proof = {
      slot: slotOfId(transactionId),
      outputIndex: indexOf(id),
      transactionCommitment,
      outputCommitmentProof: prove(index),
    }
    // A node does not list outputs that were created and spent in one slot. If a sibling is missing, the node serves the proof.
    const isWhole = source.node === undefined || provesOutput(id, bytes, proof)
    return isWhole ? ok(proof) : fetchProof({ outputId: id, bytes })
  }
}

/** Maximum number of genesis transactions with equal outputs that are tried if some outputs may be missing here. */
const maxEqualTransactions = 1_000

/** The commitment to the transaction (the hash of its essence); `undefined` if its block is not stored. */
async function commitmentToTransaction(
  { store }: Pick<Services, 'store'>,
  id: OutputRow['blockId'],
): Promise<Hex | undefined> {
  const row = id && (await store.read.block(id))
  return row && carriedTransaction(row.bytes).transactionCommitment
}

import { type GenesisTransactions, genesisBlockId } from '../../ledger/genesis.ts'
import { present } from '../../lib/assert.ts'
import { bytesToHex, type Hex } from '../../lib/hex.ts'
import { passTurn } from '../../lib/turns.ts'
import { OutputIdProof } from '../../protocol/commitment.ts'
import { byIndex, indexOf, slotOfId, transactionOf } from '../../protocol/ids.ts'
import type { ProtocolParameters } from '../../protocol/parameters.ts'
import type { BlockId, OutputId, TransactionId } from '../../protocol/primitives.ts'
import { createProver } from '../../protocol/proofs.ts'
import { encode } from '../../protocol/schema/schema.ts'
import { carriedTransaction } from '../../protocol/stored.ts'
import type { StoreReader } from '../../store/contract.ts'
import type { OutputRow } from '../../store/rows.ts'

/** Proves the content of outputs. An output id is a hash over the content, and the state root of a commitment covers only the ids. */

type Reads = Pick<StoreReader, 'blocks' | 'outputsOfTransaction'>

/** The data that proves the outputs of a transaction. */
interface Transaction {
  readonly transactionCommitment: Hex
  /** In the order of the outputs. */
  readonly outputBytes: readonly Uint8Array[]
}

/** The data that all proofs of a ledger share. */
export interface ProofContext {
  readonly parameters: Pick<ProtocolParameters, 'genesisSlot'>
  readonly firsts: GenesisTransactions
}

/** The serialized proofs of some outputs, from the blocks of their transactions. An output whose block is not kept has no proof. */
export async function proofsOf(
  read: Reads,
  { parameters, firsts }: ProofContext,
  rows: readonly Pick<OutputRow, 'outputId' | 'blockId'>[],
): Promise<ReadonlyMap<OutputId, Hex>> {
  const genesis = genesisBlockId(parameters)
  const bytesById = await bytesOf(read, [...new Set(rows.flatMap(({ blockId }) => blockId ?? []))])
  const proofs = new Map<OutputId, Hex>()
  for (const [transactionId, own] of Map.groupBy(rows, (row) => transactionOf(row.outputId))) {
    const blockId = own[0]?.blockId
    const bytes = blockId && bytesById.get(blockId)
    if (bytes === undefined && blockId !== genesis) continue
    const transaction = bytes
      ? carriedTransaction(bytes)
      : await firstTransaction({ read, firsts }, transactionId)
    const prove = createProver(transaction.outputBytes)
    for (const { outputId: id } of own) {
      const proof = {
        slot: slotOfId(transactionId),
        outputIndex: indexOf(id),
        transactionCommitment: transaction.transactionCommitment,
        outputCommitmentProof: prove(indexOf(id)),
      }
      proofs.set(id, bytesToHex(encode(OutputIdProof, proof)))
    }
    await passTurn()
  }
  return proofs
}

async function bytesOf(read: Reads, ids: readonly BlockId[]): Promise<Map<BlockId, Uint8Array>> {
  const bytesById = new Map<BlockId, Uint8Array>()
  for (let at = 0; at < ids.length; at += blocksPerRead) {
    await passTurn()
    const blocks = await read.blocks(ids.slice(at, at + blocksPerRead))
    for (const { blockId, bytes } of blocks) bytesById.set(blockId, bytes)
  }
  return bytesById
}

/** A block has up to 32 kilobytes, so that a read returns at most 1.6 MB. */
const blocksPerRead = 50

/** Rebuilds a transaction of the genesis from its outputs: it has no block, and all its outputs are kept. */
async function firstTransaction(
  { read, firsts }: Pick<ProofContext, 'firsts'> & { readonly read: Reads },
  id: TransactionId,
): Promise<Transaction> {
  const inOrder = (await read.outputsOfTransaction(id)).sort(byIndex)
  const outputBytes = inOrder.map(({ bytes }) => bytes)
  const commitment = firsts.commitmentOf(id, outputBytes)
  return { transactionCommitment: present(commitment, 'a first transaction'), outputBytes }
}

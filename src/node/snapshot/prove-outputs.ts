import { genesisBlockId, identifyGenesis } from '../../ledger/genesis.ts'
import { assert, present } from '../../lib/assert.ts'
import { grouped } from '../../lib/grouped.ts'
import type { Hex } from '../../lib/hex.ts'
import { createTurns } from '../../lib/turns.ts'
import { Block, signedTransactionOf } from '../../protocol/block.ts'
import type { OutputIdProof } from '../../protocol/commitment.ts'
import {
  identifyTransaction,
  indexOf,
  outputId,
  slotOfId,
  transactionOf,
} from '../../protocol/ids.ts'
import type { ProtocolParameters } from '../../protocol/parameters.ts'
import type { OutputId, TransactionId } from '../../protocol/primitives.ts'
import { createProver } from '../../protocol/proofs.ts'
import { decode } from '../../protocol/schema/schema.ts'
import type { StoreReader } from '../../store/contract.ts'
import type { OutputRow } from '../../store/rows.ts'

/** Proves what outputs contain: their ids are hashes over them, and the state root of a commitment stands for ids alone. */

type Reads = Pick<StoreReader, 'blocks' | 'outputs'>

/** What the outputs of a transaction are proved by. */
interface Transaction {
  readonly transactionCommitment: Hex
  /** In their order. */
  readonly outputBytes: readonly Uint8Array[]
}

/** The proofs of some outputs, from the blocks that carried their transactions; none where a block is not kept. */
export async function proofsOf(
  read: Reads,
  parameters: Pick<ProtocolParameters, 'genesisSlot'>,
  rows: readonly Pick<OutputRow, 'outputId' | 'blockId'>[],
): Promise<ReadonlyMap<OutputId, OutputIdProof>> {
  const genesis = genesisBlockId(parameters)
  const kept = await read.blocks([...new Set(rows.flatMap(({ blockId }) => blockId ?? []))])
  const bytesById = new Map(kept.map(({ blockId, bytes }) => [blockId, bytes]))
  const turns = createTurns()
  const proofs = new Map<OutputId, OutputIdProof>()
  for (const [transactionId, own] of grouped(rows, (row) => transactionOf(row.outputId))) {
    const blockId = own[0]?.blockId
    const bytes = blockId && bytesById.get(blockId)
    if (bytes === undefined && blockId !== genesis) continue
    const transaction = bytes ? carried(bytes) : await firstTransaction(read, transactionId)
    const prove = createProver(transaction.outputBytes)
    for (const { outputId: id } of own) {
      proofs.set(id, {
        slot: slotOfId(transactionId),
        outputIndex: indexOf(id),
        transactionCommitment: transaction.transactionCommitment,
        outputCommitmentProof: prove(indexOf(id)),
      })
    }
    await turns.pass()
  }
  return proofs
}

function carried(bytes: Uint8Array): Transaction {
  const block = decode(Block, bytes)
  assert(block.ok, 'a stored block decodes')
  const payload = present(signedTransactionOf(block.value), 'the transaction of an output')
  return identifyTransaction(payload.transaction)
}

/** The transaction of the genesis never existed: it is made of its outputs, which are all kept. */
async function firstTransaction(read: Reads, id: TransactionId): Promise<Transaction> {
  const ids = Array.from({ length: 128 }, (_, index) => outputId(id, index))
  const rows = await read.outputs(ids)
  const inOrder = rows.toSorted((a, b) => indexOf(a.outputId) - indexOf(b.outputId))
  const { transactionCommitment } = identifyGenesis({ genesisSlot: slotOfId(id) }, [])
  return { transactionCommitment, outputBytes: inOrder.map(({ bytes }) => bytes) }
}

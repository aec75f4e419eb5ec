import { createHash } from 'node:crypto'
import { present } from '../../src/lib/assert.ts'
import type { Hex } from '../../src/lib/hex.ts'
import { Block, signedTransactionOf } from '../../src/protocol/block.ts'
import { SlotCommitment } from '../../src/protocol/commitment.ts'
import { identifyBlock, identifyTransaction } from '../../src/protocol/ids.ts'
import { type Network, networkOf } from '../../src/protocol/network.ts'
import type { Output } from '../../src/protocol/outputs.ts'
import { ProtocolParameters } from '../../src/protocol/parameters.ts'
import type {
  AccountId,
  BlockId,
  CommitmentId,
  OutputId,
  SlotIndex,
  TransactionId,
} from '../../src/protocol/primitives.ts'
import { decode, type Schema } from '../../src/protocol/schema/schema.ts'
import { nodeWorkScore } from '../../src/protocol/score.ts'
import { slotOfTime } from '../../src/protocol/slots.ts'
import type { SignedTransaction } from '../../src/protocol/transaction.ts'
import type { Differences } from './differences.ts'
import { countsOf, groupBy } from './lists.ts'
import type { TableRow, Tables } from './tables.ts'

/** What the model takes from a database: the parameters, the genesis, and the blocks in the order in which they arrived. */

/** The input of the model. */
export interface StoredLedger {
  readonly network: Network
  readonly parameters: ProtocolParameters
  readonly commitments: ReadonlyMap<SlotIndex, StoredCommitment>
  /** The newest committed slot. */
  readonly committed: SlotIndex
  /** In the order of their arrival. */
  readonly blocks: readonly StoredBlock[]
  readonly blocksOfSlot: (slot: SlotIndex) => readonly StoredBlock[]
}

/** A commitment with the range of the log that belongs to it. */
export interface StoredCommitment {
  readonly id: CommitmentId
  readonly commitment: SlotCommitment
  readonly range: readonly [number, number]
}

/** A block. Everything but `arrival` and `state` comes from its bytes. */
export interface StoredBlock {
  readonly blockId: BlockId
  readonly arrival: number
  readonly state: string
  readonly block: Block
  readonly slot: SlotIndex
  readonly issuerId: AccountId
  readonly size: number
  readonly workScore: number
  readonly isValidation: boolean
  readonly isCandidacy: boolean
  readonly signed: SignedTransaction | undefined
  readonly transactionId: TransactionId | undefined
}

/** Reads the input, and compares the columns of blocks that the program derives from their bytes. */
export async function readLedger(tables: Tables, differ: Differences): Promise<StoredLedger> {
  const [row] = await tables.rows('network')
  const parameters = decoded(ProtocolParameters, present(row, 'the network').bytes('parameters'))
  const network = networkOf(parameters)
  const commitments = new Map<SlotIndex, StoredCommitment>()
  for (const one of await tables.rows('commitments', 'slot')) {
    commitments.set(one.number('slot'), {
      id: one.hex<CommitmentId>('id'),
      commitment: decoded(SlotCommitment, one.bytes('bytes')),
      range: [one.number('firstSeq'), one.number('lastSeq')],
    })
  }
  const committed = Math.max(...commitments.keys())
  const rows = await tables.rows('blocks', 'inbox')
  const blocks = rows.map((one) => readBlock(one, parameters, differ))
  const bySlot = groupBy(blocks, ({ slot }) => slot)
  for (const { blockId, slot, state } of blocks) {
    const isOpen = slot > committed && state === 'PENDING'
    const expected = slot <= committed ? 'FINALIZED' : 'ACCEPTED'
    if (!isOpen) differ.equal(`state of block ${blockId}`, state, expected)
  }
  await compareParents(tables, blocks, differ)
  return {
    ...{ network, parameters, commitments, committed, blocks },
    blocksOfSlot: (slot) => bySlot.get(slot) ?? [],
  }
}

/** Decodes bytes that the program stored; malformed bytes are an exception. */
export function decoded<T>(schema: Schema<T>, bytes: Uint8Array): T {
  const value = decode(schema, bytes)
  if (!value.ok) throw new Error(`malformed bytes: ${JSON.stringify(value.error)}`)
  return value.value
}

function readBlock(
  row: TableRow,
  parameters: ProtocolParameters,
  differ: Differences,
): StoredBlock {
  const bytes = row.bytes('bytes')
  const block = decoded(Block, bytes)
  const { issuingTime, issuerId } = block.header
  const slot = slotOfTime(parameters, issuingTime)
  const signed = signedTransactionOf(block)
  const transactionId = signed && identifyTransaction(signed.transaction).transactionId
  const { blockId } = identifyBlock(bytes, slot)
  const { body } = block
  const isValidation = body.type === 1
  const workScore = isValidation ? 0 : nodeWorkScore(parameters, block)
  const actual = {
    blockId: row.hex('id'),
    slot: row.number('slot'),
    issuerId: row.hex('issuerId'),
    issuingTime: row.big('issuingTime'),
    kind: row.number('kind'),
    workScore: row.number('workScore'),
    transactionId: row.isNull('transactionId') ? undefined : row.hex('transactionId'),
  }
  const kind = kindOf(block)
  const expected = { blockId, slot, issuerId, issuingTime, kind, workScore, transactionId }
  differ.equal(`columns of block ${blockId}`, actual, expected)
  return {
    ...{ blockId, block, slot, issuerId, workScore, isValidation, signed, transactionId },
    ...{ arrival: row.number('inbox'), state: row.text('state'), size: bytes.length },
    isCandidacy: kind === kinds.candidacy,
  }
}

const kinds = { none: 0, validation: 1, candidacy: 2, tagged: 3, transaction: 4 } as const

function kindOf({ body }: Block): number {
  if (body.type === 1) return kinds.validation
  if (body.payload === undefined) return kinds.none
  const byPayload = { 0: kinds.tagged, 1: kinds.transaction, 2: kinds.candidacy } as const
  return byPayload[body.payload.type]
}

async function compareParents(
  tables: Tables,
  blocks: readonly StoredBlock[],
  differ: Differences,
): Promise<void> {
  const rows = await tables.rows('block_parents')
  const actual = rows.map((row) => `${row.hex('parent')} of ${row.number('inbox')}`)
  const expected = blocks.flatMap(({ arrival, block: { body } }) => {
    const all = [...body.strongParents, ...body.weakParents, ...body.shallowLikeParents]
    return [...new Set(all)].map((parent) => `${parent} of ${arrival}`)
  })
  differ.equalMaps('parent', countsOf(actual), countsOf(expected))
}

/** An output with the slots and transactions that created and spent it. */
export interface BookedOutput {
  readonly outputId: OutputId
  readonly output: Output
  readonly bookedSlot: SlotIndex
  readonly blockId: BlockId
  spentSlot?: SlotIndex
  spentBy?: TransactionId
}

/** SHA-256 of some bytes in a row. */
export function sha256(...parts: readonly Uint8Array[]): Uint8Array {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** The bytes of a hexadecimal text. */
export function bytesOf(hex: Hex): Buffer {
  return Buffer.from(hex.slice(2), 'hex')
}

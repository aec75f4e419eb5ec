import { BasicBlockBody, Block } from '../../protocol/block.ts'
import { identifyBlock, identifyTransaction, transactionBytesIn } from '../../protocol/ids.ts'
import { is } from '../../protocol/is.ts'
import type { Network } from '../../protocol/network.ts'
import type { BlockId, TransactionId } from '../../protocol/primitives.ts'
import { decode } from '../../protocol/schema/schema.ts'
import { nodeWorkScore } from '../../protocol/score.ts'
import { slotOfTime } from '../../protocol/slots.ts'
import { SignedTransaction } from '../../protocol/transaction.ts'
import type { BlockRow } from '../../store/rows.ts'
import { blockKind } from '../block-kind.ts'

/** Reads the bytes of a block from a node, and computes its ids. */

/** A block without its state. */
export interface NodeBlock {
  readonly row: Omit<BlockRow, 'state'>
  /** The parents of all kinds. */
  readonly parents: readonly BlockId[]
}

/** Reads a block; `undefined` if the bytes are not a block. The inbox position of the row is 0. */
export function nodeBlock({ parameters }: Network, bytes: Uint8Array): NodeBlock | undefined {
  const block = decode(Block, bytes)
  if (!block.ok) return undefined
  const { header, body } = block.value
  const slot = slotOfTime(parameters, header.issuingTime)
  return {
    row: {
      blockId: identifyBlock(bytes, slot).blockId,
      inbox: 0,
      slot,
      issuerId: header.issuerId,
      issuingTime: header.issuingTime,
      bytes,
      transactionId: transactionIn(block.value, bytes),
      kind: blockKind(body),
      workScore: nodeWorkScore(parameters, block.value),
    },
    parents: [...body.strongParents, ...body.weakParents, ...body.shallowLikeParents],
  }
}

function transactionIn({ body }: Block, bytes: Uint8Array): TransactionId | undefined {
  if (!is(BasicBlockBody, body) || !is(SignedTransaction, body.payload)) return undefined
  const { payload } = body
  const own = transactionBytesIn(bytes, body, payload)
  return identifyTransaction(payload.transaction, own).transactionId
}

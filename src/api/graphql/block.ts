import { bytesToHex } from '../../lib/hex.ts'
import type { BlockView } from '../../service/blocks/read-block.ts'
import { builder } from './builder.ts'
import { enumOf } from './enum-of.ts'
import { byProtocolId } from './load-node.ts'
import { blockInBatch, transactionInBatch } from './loaders.ts'
import { BlockContent } from './model.ts'
import { fieldCost, reads } from './prices.ts'
import { TransactionNode } from './transaction.ts'

/** Blocks and their states. */

/** The states of blocks. */
export const BlockState = enumOf('BlockState', 'The state of a block.', {
  PENDING: 'Stored, and not booked yet.',
  ACCEPTED: 'Booked into its slot.',
  CONFIRMED: 'Booked, and confirmed by a committee.',
  FINALIZED: 'In a committed slot that is final.',
  DROPPED: 'Stored, but not booked into the ledger.',
})

/** A block and its state. */
export const BlockNode = builder.nodeRef<BlockView>('Block', {
  id: { resolve: ({ blockId }) => blockId },
  loadOne: byProtocolId(36, blockInBatch),
})

BlockNode.implement({
  description: 'A block as it was submitted, and its state in this ledger.',
  fields: (t) => ({
    blockId: t.expose('blockId', { type: 'BlockId', description: 'The id of the block.' }),
    state: t.expose('state', { type: BlockState, description: 'The state of the block.' }),
    slot: t.expose('slot', { type: 'UInt32', description: 'The slot of its issuing time.' }),
    issuingTime: t.expose('issuingTime', {
      type: 'UInt64',
      description: 'When it was issued: Unix time in nanoseconds.',
    }),
    issuedAt: t.field({
      type: 'DateTime',
      description: 'When it was issued, cut to milliseconds.',
      resolve: ({ issuingTime }) => Number(issuingTime / 1_000_000n),
    }),
    issuerId: t.expose('issuerId', { type: 'AccountId', description: 'The issuing account.' }),
    content: t.field({
      type: BlockContent,
      description: 'The content of the block.',
      complexity: fieldCost.block,
      resolve: (view) => view.block(),
    }),
    bytes: t.field({
      type: 'Hex',
      description: 'The serialized block as it was submitted; at most 32768 bytes.',
      complexity: fieldCost.blockBytes,
      resolve: (view) => bytesToHex(view.bytes),
    }),
    transaction: t.field({
      complexity: reads(1),
      type: TransactionNode,
      nullable: true,
      description: 'The transaction it carries; null where it carries none.',
      resolve: ({ transactionId }, _args, context) =>
        transactionId && transactionInBatch(context, transactionId),
    }),
  }),
})

builder.queryField('block', (t) =>
  t.field({
    complexity: reads(1),
    type: BlockNode,
    nullable: true,
    description:
      'A block, from the moment it was submitted on; null when it is not known, or is no longer kept.',
    args: { id: t.arg({ type: 'BlockId', required: true, description: 'Its id.' }) },
    resolve: (_root, { id }, context) => blockInBatch(context, id),
  }),
)

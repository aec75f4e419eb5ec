import { bytesToHex } from '../../../lib/hex.ts'
import type { BlockView } from '../../../service/blocks/read-block.ts'
import { builder } from '../builder.ts'
import { enumOf, exposed } from '../declare.ts'
import { fieldCost, reads } from '../execution/prices.ts'
import { idArgs } from '../id-args.ts'
import { byProtocolId } from '../load-node.ts'
import { blockInBatch, transactionInBatch } from '../loaders.ts'
import { BlockContent } from '../model/model.ts'
import { TransactionNode } from './transaction.ts'

/** Blocks and their states. */

export const BlockState = enumOf('BlockState', 'The state of a block.', {
  PENDING: 'The block is stored and not booked yet.',
  ACCEPTED: 'The block is booked into its slot.',
  CONFIRMED: 'The block is booked and confirmed by a committee.',
  FINALIZED: 'The block is in a final committed slot.',
  DROPPED: 'The block is stored, but will not be booked.',
})

export const BlockNode = builder.nodeRef<BlockView>('Block', {
  id: { resolve: ({ blockId }) => blockId },
  loadOne: byProtocolId(36, blockInBatch),
})

BlockNode.implement({
  description: 'A submitted block, with its state in this ledger.',
  fields: (t) => ({
    ...exposed(t, 'BlockId', { blockId: 'The id of the block.' }),
    ...exposed(t, BlockState, { state: 'The state of the block.' }),
    ...exposed(t, 'UInt32', { slot: 'The index of the slot that contains the issuing time.' }),
    ...exposed(t, 'UInt64', { issuingTime: 'The issuing time of the block, in Unix nanoseconds.' }),
    issuedAt: t.field({
      type: 'DateTime',
      description: 'The issuing time of the block, truncated to milliseconds.',
      resolve: ({ issuingTime }) => Number(issuingTime / 1_000_000n),
    }),
    ...exposed(t, 'AccountId', { issuerId: 'The account id of the issuer.' }),
    content: t.field({
      type: BlockContent,
      description: 'The content of the block.',
      complexity: fieldCost.block,
      resolve: (view) => view.block(),
    }),
    bytes: t.field({
      type: 'Hex',
      description: 'The serialized block as it was submitted, at most 32768 bytes.',
      complexity: fieldCost.blockBytes,
      resolve: (view) => bytesToHex(view.bytes),
    }),
    transaction: t.field({
      complexity: reads(1),
      type: TransactionNode,
      nullable: true,
      description: 'The transaction that the block carries. Null if it carries none.',
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
      'The block with the given id, available as soon as it is submitted. Null if it is not known or has been pruned.',
    args: idArgs('BlockId', 'block'),
    resolve: (_root, { id }, context) => blockInBatch(context, id),
  }),
)

import { listBlocks } from '../../service/lists/list-blocks.ts'
import { listTransactions } from '../../service/lists/list-transactions.ts'
import { orThrow } from '../errors.ts'
import { BlockNode } from './block.ts'
import { BlockConnection } from './block-lists.ts'
import { builder } from './builder.ts'
import { listArgs, listConnection, milestoneBounds } from './lists.ts'
import { blockInBatch, blockPart, milestoneInBatch, transactionPart } from './loaders.ts'
import { Milestone } from './milestone.ts'
import { listCost, reads, transactionsCost } from './prices.ts'
import { TransactionNode, TransactionState } from './transaction.ts'

/** Lists of transactions, and what transactions lead to. */

const TransactionFilter = builder.inputType('TransactionFilter', {
  description: 'Conditions that transactions must all meet.',
  fields: (t) => ({
    state: t.field({ type: TransactionState, description: 'Only transactions in this state.' }),
    ...milestoneBounds(
      t,
      'Only transactions of this slot or of later ones.',
      'Only transactions of this slot or of earlier ones.',
    ),
  }),
})

/** A page of transactions. */
export const TransactionConnection = listConnection(
  'Transaction',
  TransactionNode,
  'A page of transactions, by slot and id (Relay connection).',
)

builder.queryField('transactions', (t) =>
  t.field({
    type: TransactionConnection,
    nullable: true,
    description:
      'All transactions that are kept, also those that are pending or failed; by slot, and in one slot by id. That of the genesis is not among them. Null, with an error, in upstream mode.',
    complexity: transactionsCost,
    args: {
      filter: t.arg({ type: TransactionFilter, description: 'Only what meets all of these.' }),
      ...listArgs,
    },
    resolve: async (_root, { filter, ...page }, context) =>
      orThrow(await listTransactions(transactionPart(context), filter ?? {}, page)),
  }),
)

builder.objectFields(TransactionNode, (t) => ({
  block: t.field({
    type: BlockNode,
    nullable: true,
    description: 'The block of blockId; null for the transaction of the genesis.',
    complexity: reads(1),
    resolve: ({ blockId }, _args, context) => blockId && blockInBatch(context, blockId),
  }),
  carriers: t.field({
    type: BlockConnection,
    nullable: true,
    description:
      'Every block that is kept and carries it, by issuing time. Null, with an error, in upstream mode.',
    complexity: listCost,
    args: listArgs,
    resolve: async ({ transactionId }, page, context) =>
      orThrow(await listBlocks(blockPart(context), { transactionId }, page)),
  }),
  milestone: t.field({
    type: Milestone,
    nullable: true,
    description:
      'The milestone it is booked in; null while its slot is not committed, and where it failed.',
    complexity: reads(1),
    resolve: ({ slot, state }, _args, context) =>
      state === 'FAILED' || state === 'PENDING' ? null : milestoneInBatch(context, slot),
  }),
}))

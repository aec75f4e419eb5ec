import { isBooked } from '../../../service/blocks/read-transaction.ts'
import { listBlocks } from '../../../service/lists/list-blocks.ts'
import { listTransactions } from '../../../service/lists/list-transactions.ts'
import { orThrow } from '../../errors/errors.ts'
import { builder } from '../builder.ts'
import { listCost, reads, transactionsCost } from '../execution/prices.ts'
import { filterArg, listArgs, listConnection, milestoneBounds } from '../lists.ts'
import { blockIdOf, blockInBatch, blockPart, transactionPart } from '../loaders.ts'
import { BlockNode } from './block.ts'
import { BlockConnection } from './block-lists.ts'
import { milestoneField } from './milestone.ts'
import { TransactionNode, TransactionState } from './transaction.ts'

/** Lists of transactions, and fields from transactions to related objects. */

const TransactionFilter = builder.inputType('TransactionFilter', {
  description: 'Conditions on transactions. A transaction must meet all of them.',
  fields: (t) => ({
    state: t.field({ type: TransactionState, description: 'The state of the transactions.' }),
    ...milestoneBounds(t, 'slot'),
  }),
})

export const TransactionConnection = listConnection(
  'Transaction',
  TransactionNode,
  'A page of transactions, in the order of the field that returns it (Relay connection).',
)

builder.queryField('transactions', (t) =>
  t.field({
    type: TransactionConnection,
    nullable: true,
    description:
      'A list of all stored transactions, including pending and failed transactions, ordered by slot and then by id. The transaction of the genesis is not included. Null with an error in upstream mode.',
    complexity: transactionsCost,
    args: { ...filterArg(TransactionFilter, 'transactions'), ...listArgs },
    resolve: async (_root, { filter, ...page }, context) =>
      orThrow(await listTransactions(transactionPart(context), filter ?? {}, page)),
  }),
)

builder.objectFields(TransactionNode, (t) => ({
  block: t.field({
    type: BlockNode,
    nullable: true,
    description: 'The block with the id blockId. Null for the transaction of the genesis.',
    complexity: reads(1),
    resolve: (listed, _args, context) => {
      const blockId = blockIdOf(listed)
      return blockId && blockInBatch(context, blockId)
    },
  }),
  carriers: t.field({
    type: BlockConnection,
    nullable: true,
    description:
      'A list of the stored blocks that carry the transaction, ordered by issuing time. Null with an error in upstream mode.',
    complexity: listCost,
    args: listArgs,
    resolve: async ({ transactionId }, page, context) =>
      orThrow(await listBlocks(blockPart(context), { transactionId }, page)),
  }),
  milestone: milestoneField(
    t,
    'The milestone of the slot in which the transaction is booked. Null until the slot is committed, if the transaction failed, and if the milestone is not known.',
    ({ slot, state }) => (isBooked(state) ? slot : null),
  ),
}))

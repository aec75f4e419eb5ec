import type { PublishedFailure } from '../../service/blocks/failure-reason.ts'
import type { ListedTransaction } from '../../service/blocks/read-transaction.ts'
import { builder } from './builder.ts'
import { enumOf } from './enum-of.ts'
import { byProtocolId } from './load-node.ts'
import { outputsInBatch, transactionInBatch, withContent } from './loaders.ts'
import { SignedTransactionType } from './model.ts'
import { OutputNode } from './output.ts'
import { fieldCost, free, outputsCost, reads } from './prices.ts'

/** A transaction and what became of it. */

/** The states of transactions. */
export const TransactionState = enumOf('TransactionState', 'The state of a transaction.', {
  PENDING:
    'A block that carries it is kept, and it is not judged yet, or waits for outputs that it spends and that do not exist yet.',
  ACCEPTED: 'Booked: its inputs are spent and its outputs exist.',
  COMMITTED: 'In a committed slot.',
  FINALIZED: 'In a committed slot that is final.',
  FAILED:
    'Judged and refused; it changed nothing. Where the failure is that of an unlock (5 to 8, 24, 25) or of a missing input (2), it is PENDING again as soon as another block carries it.',
})

/** Why a transaction failed. */
export const TransactionFailure = builder
  .objectRef<PublishedFailure>('TransactionFailure')
  .implement({
    description: 'Why a transaction failed.',
    fields: (t) => ({
      code: t.exposeInt('code', {
        description: 'The published number of the reason, 1 to 255.',
      }),
      name: t.exposeString('name', {
        description: 'The published name of the reason, such as InputAlreadySpent.',
      }),
      sentence: t.exposeString('sentence', {
        description: 'The reason in words: without a capital, without a full stop.',
      }),
    }),
  })

/** A transaction with its state. */
export const TransactionNode = builder
  .nodeRef<ListedTransaction>('Transaction', {
    id: { resolve: ({ transactionId }) => transactionId },
    loadOne: byProtocolId(36, transactionInBatch),
  })
  .implement({
    description: 'A transaction, and its state in this ledger.',
    fields: (t) => ({
      transactionId: t.expose('transactionId', {
        type: 'TransactionId',
        description: 'The id of the transaction.',
      }),
      state: t.expose('state', {
        type: TransactionState,
        description: 'The state of the transaction.',
      }),
      failure: t.expose('failure', {
        type: TransactionFailure,
        complexity: free,
        nullable: true,
        description: 'Why it failed; null unless the state is FAILED.',
      }),
      slot: t.expose('slot', {
        type: 'UInt32',
        description: "The slot it is booked in; while pending, its block's.",
      }),
      blockId: t.expose('blockId', {
        type: 'BlockId',
        nullable: true,
        description:
          'The block by which it was judged; while it is pending, the earliest that carries it. Null for the transaction of the genesis, which no block carries.',
      }),
      content: t.field({
        complexity: fieldCost.block,
        type: SignedTransactionType,
        nullable: true,
        description:
          'The content of the transaction, with its unlocks; null for that of the genesis, which is known by its outputs alone.',
        resolve: async (listed, _args, context) => (await withContent(context, listed)).payload,
      }),
      inputs: t.field({
        type: [OutputNode],
        description: 'The outputs it spends, in the order of its inputs; only those that exist.',
        complexity: outputsCost,
        resolve: async (listed, _args, context) =>
          outputsInBatch(context, (await withContent(context, listed)).inputIds),
      }),
      outputs: t.field({
        type: [OutputNode],
        description: 'The outputs it created, in their order; none before it is accepted.',
        complexity: outputsCost,
        resolve: async (listed, _args, context) =>
          outputsInBatch(context, (await withContent(context, listed)).outputIds),
      }),
    }),
  })

builder.queryField('transaction', (t) =>
  t.field({
    complexity: reads(1),
    type: TransactionNode,
    nullable: true,
    description:
      'A transaction, from the moment its block was submitted on, or that of the genesis; null when it is not known.',
    args: { id: t.arg({ type: 'TransactionId', required: true, description: 'Its id.' }) },
    resolve: (_root, { id }, context) => transactionInBatch(context, id),
  }),
)

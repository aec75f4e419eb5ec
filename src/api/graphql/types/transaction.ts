import type { PublishedFailure } from '../../../service/blocks/failure-reason.ts'
import type { ListedTransaction } from '../../../service/blocks/read-transaction.ts'
import { builder } from '../builder.ts'
import { enumOf, exposed, exposedOrNull } from '../declare.ts'
import { fieldCost, outputsCost, reads } from '../execution/prices.ts'
import { idArgs } from '../id-args.ts'
import { byProtocolId } from '../load-node.ts'
import { outputsInBatch, transactionInBatch, withContent } from '../loaders.ts'
import { SignedTransactionType } from '../model/model.ts'
import { OutputNode } from './output.ts'

/** Transactions and their states. */

export const TransactionState = enumOf('TransactionState', 'The state of a transaction.', {
  PENDING:
    'A block that carries the transaction is stored. The transaction is not judged yet, or waits for outputs that it spends and that do not exist yet.',
  ACCEPTED: 'The transaction is booked: its inputs are spent and its outputs exist.',
  COMMITTED: 'The transaction is in a committed slot.',
  FINALIZED: 'The transaction is in a final committed slot.',
  FAILED:
    'The transaction was judged and has failed without any effect. After a failure because of an unlock (codes 5 to 8, 24 and 25) or a missing input (code 2), it becomes PENDING again as soon as another block carries it.',
})

const TransactionFailure = builder.objectRef<PublishedFailure>('TransactionFailure').implement({
  description: 'The reason why a transaction failed.',
  fields: (t) => ({
    ...exposed(t, 'Int', {
      code: 'The published number of the reason, from 1 to 255; 0 if an upstream node reports none.',
    }),
    ...exposed(t, 'String', {
      name: 'The published name of the reason, such as InputAlreadySpent; Unknown if this program does not know the number.',
      sentence: 'The reason in words, without an initial capital letter and without a full stop.',
    }),
  }),
})

export const TransactionNode = builder
  .nodeRef<ListedTransaction>('Transaction', {
    id: { resolve: ({ transactionId }) => transactionId },
    loadOne: byProtocolId(36, transactionInBatch),
  })
  .implement({
    description: 'A transaction, with its state in this ledger.',
    fields: (t) => ({
      ...exposed(t, 'TransactionId', { transactionId: 'The id of the transaction.' }),
      ...exposed(t, TransactionState, { state: 'The state of the transaction.' }),
      ...exposedOrNull(t, TransactionFailure, {
        failure: 'The reason why the transaction failed. Null unless the state is FAILED.',
      }),
      ...exposed(t, 'UInt32', {
        slot: 'The index of the slot in which the transaction is booked, or of the slot of its block while it is pending.',
      }),
      ...exposedOrNull(t, 'BlockId', {
        blockId:
          'The id of the block with which the transaction was judged, or of the earliest block that carries it while it is pending. Null for the transaction of the genesis, which no block carries, and in the transactions of an address if an upstream node no longer has the block.',
      }),
      content: t.field({
        complexity: fieldCost.block,
        type: SignedTransactionType,
        nullable: true,
        description:
          'The content of the transaction, with its unlocks. Null for the transaction of the genesis, of which only the outputs are known.',
        resolve: async (listed, _args, context) => (await withContent(context, listed)).payload,
      }),
      inputs: t.field({
        type: [OutputNode],
        description:
          'The outputs that the transaction spends, in the order of the inputs. Outputs that are not known are left out: those that do not exist, and those that were spent before the snapshot with which the ledger began.',
        complexity: outputsCost,
        resolve: async (listed, _args, context) =>
          outputsInBatch(context, (await withContent(context, listed)).inputIds),
      }),
      outputs: t.field({
        type: [OutputNode],
        description:
          'The outputs that the transaction created, in their order. Empty until it is accepted. Outputs that were spent before the snapshot with which the ledger began are left out.',
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
      'The transaction with the given id, available as soon as a block with it is submitted. Null if it is not known.',
    args: idArgs('TransactionId', 'transaction'),
    resolve: (_root, { id }, context) => transactionInBatch(context, id),
  }),
)

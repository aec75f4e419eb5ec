import { followMilestones } from '../../../service/feed/follow-milestones.ts'
import { followBlockState, followTransactionState } from '../../../service/feed/follow-states.ts'
import { orThrow } from '../../errors/errors.ts'
import { builder } from '../builder.ts'
import { reads } from '../execution/prices.ts'
import { idArgs } from '../id-args.ts'
import { BlockNode } from './block.ts'
import { Milestone } from './milestone.ts'
import { TransactionNode } from './transaction.ts'

/** Subscriptions to milestones and to the states of blocks and transactions. */

builder.subscriptionField('milestones', (t) =>
  t.field({
    complexity: reads(1),
    type: Milestone,
    description:
      'Milestones as they are committed, with consecutive indices. A subscription that resumes after the index of the last milestone misses nothing and repeats nothing. The subscription is refused if the ledger began with a later snapshot that lacks the next milestone. It ends when the log is replaced by another log or by an older copy of itself.',
    args: {
      after: t.arg({
        type: 'UInt32',
        description:
          'The index of the milestone after which to start. Without this argument, only new milestones are sent.',
      }),
    },
    subscribe: async (_root, { after }, { services }) =>
      orThrow(await followMilestones(services, after ?? undefined)),
    resolve: (milestone) => milestone,
  }),
)

builder.subscriptionField('blockState', (t) =>
  t.field({
    complexity: reads(2),
    type: BlockNode,
    description:
      'The block with the given id: first its current state, then each change of state. The subscription ends when the state is final. It waits for a block that is not known yet.',
    args: idArgs('BlockId', 'block'),
    subscribe: (_root, { id }, { services }) => followBlockState(services, id),
    resolve: (block) => block,
  }),
)

builder.subscriptionField('transactionState', (t) =>
  t.field({
    complexity: reads(2),
    type: TransactionNode,
    description:
      'The transaction with the given id: first its current state, then each change of its state or failure. The subscription ends when the state is final. A failure because of an unlock (codes 5 to 8, 24 and 25) or a missing input (code 2) is not final: another block may carry the transaction and succeed. The subscription waits for a transaction that is not known yet.',
    args: idArgs('TransactionId', 'transaction'),
    subscribe: (_root, { id }, { services }) => followTransactionState(services, id),
    resolve: (transaction) => transaction,
  }),
)

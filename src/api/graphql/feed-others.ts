import { followMilestones } from '../../service/feed/follow-milestones.ts'
import { followBlockState, followTransactionState } from '../../service/feed/follow-states.ts'
import { orThrow } from '../errors.ts'
import { BlockNode } from './block.ts'
import { builder } from './builder.ts'
import { Milestone } from './milestone.ts'
import { reads } from './prices.ts'
import { TransactionNode } from './transaction.ts'

/** What else can be followed: milestones, and what becomes of a block or a transaction. */

builder.subscriptionField('milestones', (t) =>
  t.field({
    complexity: reads(1),
    type: Milestone,
    description:
      'Every milestone as it is committed: the index of each is one more than that of the one before. Resumed after the index of the last one, it misses and repeats nothing.',
    args: {
      after: t.arg({
        type: 'UInt32',
        description: 'The index of a milestone; left out: only what is committed from now on.',
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
      'A block now, and again whenever its state has changed; ends when it changes no more. Waits for a block that is not known yet.',
    args: { id: t.arg({ type: 'BlockId', required: true, description: 'Its id.' }) },
    subscribe: (_root, { id }, { services }) => followBlockState(services, id),
    resolve: (block) => block,
  }),
)

builder.subscriptionField('transactionState', (t) =>
  t.field({
    complexity: reads(2),
    type: TransactionNode,
    description:
      'A transaction now, and again whenever its state or its failure has changed; ends when it changes no more. A failure for an unlock (5 to 8, 24, 25) or a missing input (2) is not the end: another block may carry the transaction and succeed. Waits for a transaction that is not known yet.',
    args: { id: t.arg({ type: 'TransactionId', required: true, description: 'Its id.' }) },
    subscribe: (_root, { id }, { services }) => followTransactionState(services, id),
    resolve: (transaction) => transaction,
  }),
)

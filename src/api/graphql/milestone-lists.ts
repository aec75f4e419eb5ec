import { listBlocks } from '../../service/lists/list-blocks.ts'
import { listMilestones } from '../../service/lists/list-milestones.ts'
import { listTransactions } from '../../service/lists/list-transactions.ts'
import { listUpdatesOfMilestone } from '../../service/updates/list-milestone-updates.ts'
import { orThrow } from '../errors.ts'
import { BlockConnection } from './block-lists.ts'
import { builder } from './builder.ts'
import { LedgerUpdateConnection } from './ledger-updates.ts'
import { listArgs, listConnection, milestoneBounds } from './lists.ts'
import {
  blockPart,
  milestoneCounts,
  milestoneInBatch,
  milestoneUpdateReads,
  transactionPart,
} from './loaders.ts'
import { Milestone } from './milestone.ts'
import { fieldCost, listCost, reads, transactionsCost } from './prices.ts'
import { TransactionConnection } from './transaction-lists.ts'

/** Lists of milestones, and what milestones lead to. */

const MilestoneFilter = builder.inputType('MilestoneFilter', {
  description: 'Conditions that milestones must all meet.',
  fields: (t) => ({
    ...milestoneBounds(
      t,
      'Only this milestone or later ones.',
      'Only this milestone or earlier ones.',
    ),
  }),
})

const MilestoneConnection = listConnection(
  'Milestone',
  Milestone,
  'A page of milestones, by index (Relay connection).',
)

builder.queryField('milestones', (t) =>
  t.field({
    type: MilestoneConnection,
    nullable: true,
    description: 'All milestones. Each slot from that of the genesis to the newest has one.',
    complexity: listCost,
    args: {
      filter: t.arg({ type: MilestoneFilter, description: 'Only what meets all of these.' }),
      ...listArgs,
    },
    resolve: async (_root, { filter, ...page }, { services }) =>
      orThrow(await listMilestones(services, filter ?? {}, page)),
  }),
)

/** The greatest slot index. */
const lastSlot = 2 ** 32 - 1

builder.objectFields(Milestone, (t) => ({
  previous: t.field({
    type: Milestone,
    nullable: true,
    description: 'The milestone before it; null for that of the genesis.',
    complexity: reads(1),
    resolve: ({ index }, _args, context) =>
      index === 0 ? null : milestoneInBatch(context, index - 1),
  }),
  next: t.field({
    type: Milestone,
    nullable: true,
    description: 'The milestone after it; null while it is the newest.',
    complexity: reads(1),
    resolve: ({ index }, _args, context) =>
      index === lastSlot ? null : milestoneInBatch(context, index + 1),
  }),
  blocks: t.field({
    type: BlockConnection,
    nullable: true,
    description:
      'The kept blocks of its slot, by issuing time; also those that were dropped. Null, with an error, in upstream mode.',
    complexity: listCost,
    args: listArgs,
    resolve: async ({ index }, page, context) =>
      orThrow(await listBlocks(blockPart(context), slotOf(index), page)),
  }),
  transactions: t.field({
    type: TransactionConnection,
    nullable: true,
    description:
      'The kept transactions of its slot, by id; also those that failed. Null, with an error, in upstream mode.',
    complexity: transactionsCost,
    args: listArgs,
    resolve: async ({ index }, page, context) =>
      orThrow(await listTransactions(transactionPart(context), slotOf(index), page)),
  }),
  updates: t.field({
    type: LedgerUpdateConnection,
    nullable: true,
    description:
      'Its updates over all addresses, in the order of the log; null, with an error, where they are no longer kept.',
    complexity: listCost,
    args: listArgs,
    resolve: async (view, page, context) => {
      const { parameters } = context.services
      const reads = milestoneUpdateReads(context)
      return orThrow(await listUpdatesOfMilestone(parameters, reads, view, page))
    },
  }),
  blockCount: t.field({
    type: 'UInt32',
    nullable: true,
    description:
      'How many blocks of its slot were accepted; null, with an error, in upstream mode.',
    complexity: fieldCost.count,
    resolve: async ({ index }, _args, context) => (await milestoneCounts(context, index))?.blocks,
  }),
  transactionCount: t.field({
    type: 'UInt32',
    nullable: true,
    description:
      'How many transactions of its slot were accepted; null, with an error, in upstream mode.',
    complexity: fieldCost.count,
    resolve: async ({ index }, _args, context) =>
      (await milestoneCounts(context, index))?.transactions,
  }),
  failedTransactionCount: t.field({
    type: 'UInt32',
    nullable: true,
    description:
      'How many transactions failed for good in its slot, as `transactionsFailed` of the activity; null for a slot of before they were counted, and, with an error, in upstream mode.',
    complexity: fieldCost.count,
    resolve: async ({ index }, _args, context) => (await milestoneCounts(context, index))?.failed,
  }),
}))

function slotOf(index: number) {
  return { fromMilestone: index, toMilestone: index }
}

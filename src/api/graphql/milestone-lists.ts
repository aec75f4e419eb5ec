import { listBlocks } from '../../service/lists/list-blocks.ts'
import { listMilestones } from '../../service/lists/list-milestones.ts'
import { listTransactions } from '../../service/lists/list-transactions.ts'
import { orThrow } from '../errors.ts'
import { BlockConnection } from './block-lists.ts'
import { builder } from './builder.ts'
import { listArgs, listConnection } from './lists.ts'
import { blockPart, milestoneInBatch, transactionPart } from './loaders.ts'
import { Milestone } from './milestone.ts'
import { itemsCost, listCost, transactionsCost } from './prices.ts'
import { TransactionConnection } from './transaction-lists.ts'

/** Lists of milestones, and what milestones lead to. */

const MilestoneFilter = builder.inputType('MilestoneFilter', {
  description: 'Conditions that milestones must all meet.',
  fields: (t) => ({
    fromMilestone: t.field({ type: 'UInt32', description: 'Only this milestone or later ones.' }),
    toMilestone: t.field({ type: 'UInt32', description: 'Only this milestone or earlier ones.' }),
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
    description: 'All milestones. Each slot from that of the genesis to the newest has one.',
    complexity: listCost,
    args: { filter: t.arg({ type: MilestoneFilter }), ...listArgs },
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
    complexity: itemsCost(1),
    resolve: ({ index }, _args, context) =>
      index === 0 ? null : milestoneInBatch(context, index - 1),
  }),
  next: t.field({
    type: Milestone,
    nullable: true,
    description: 'The milestone after it; null while it is the newest.',
    complexity: itemsCost(1),
    resolve: ({ index }, _args, context) =>
      index === lastSlot ? null : milestoneInBatch(context, index + 1),
  }),
  blocks: t.field({
    type: BlockConnection,
    description: 'The kept blocks of its slot, by issuing time; also those that were dropped.',
    complexity: listCost,
    args: listArgs,
    resolve: async ({ index }, page, context) =>
      orThrow(await listBlocks(blockPart(context), slotOf(index), page)),
  }),
  transactions: t.field({
    type: TransactionConnection,
    description: 'The kept transactions of its slot, by id; also those that failed.',
    complexity: transactionsCost,
    args: listArgs,
    resolve: async ({ index }, page, context) =>
      orThrow(await listTransactions(transactionPart(context), slotOf(index), page)),
  }),
}))

function slotOf(index: number) {
  return { fromMilestone: index, toMilestone: index }
}

import { maxSlot } from '../../../protocol/slots.ts'
import { listBlocks } from '../../../service/lists/list-blocks.ts'
import { listMilestones } from '../../../service/lists/list-milestones.ts'
import { listTransactions } from '../../../service/lists/list-transactions.ts'
import { listUpdatesOfMilestone } from '../../../service/updates/list-milestone-updates.ts'
import { orThrow } from '../../errors/errors.ts'
import { builder } from '../builder.ts'
import { fieldCost, listCost, transactionsCost } from '../execution/prices.ts'
import { filterArg, listArgs, listConnection, milestoneBounds } from '../lists.ts'
import { blockPart, milestoneCounts, milestoneUpdateReads, transactionPart } from '../loaders.ts'
import { BlockConnection } from './block-lists.ts'
import { LedgerUpdateConnection } from './ledger-updates.ts'
import { Milestone, milestoneField } from './milestone.ts'
import { TransactionConnection } from './transaction-lists.ts'

/** Lists of milestones, and fields from milestones to related objects. */

const MilestoneFilter = builder.inputType('MilestoneFilter', {
  description: 'Conditions on milestones. A milestone must meet all of them.',
  fields: (t) => ({
    ...milestoneBounds(t, 'milestone'),
  }),
})

const MilestoneConnection = listConnection(
  'Milestone',
  Milestone,
  'A page of milestones, ordered by index (Relay connection).',
)

builder.queryField('milestones', (t) =>
  t.field({
    type: MilestoneConnection,
    nullable: true,
    description:
      'A list of all milestones, ordered by index. Each slot from the genesis to the newest committed slot has one, but a ledger that began with a snapshot contains only the last milestones before it.',
    complexity: listCost,
    args: { ...filterArg(MilestoneFilter, 'milestones'), ...listArgs },
    resolve: async (_root, { filter, ...page }, { services }) =>
      orThrow(await listMilestones(services, filter ?? {}, page)),
  }),
)

builder.objectFields(Milestone, (t) => ({
  previous: milestoneField(
    t,
    'The previous milestone. Null for the milestone of the genesis, and if it is not known.',
    ({ index }) => (index === 0 ? null : index - 1),
  ),
  next: milestoneField(
    t,
    'The next milestone. Null for the newest milestone, and if it is not known.',
    ({ index }) => (index === maxSlot ? null : index + 1),
  ),
  blocks: t.field({
    type: BlockConnection,
    nullable: true,
    description:
      'A list of the stored blocks of the slot, including dropped blocks, ordered by issuing time. Null with an error in upstream mode.',
    complexity: listCost,
    args: listArgs,
    resolve: async ({ index }, page, context) =>
      orThrow(await listBlocks(blockPart(context), slotOf(index), page)),
  }),
  transactions: t.field({
    type: TransactionConnection,
    nullable: true,
    description:
      'A list of the stored transactions of the slot, including failed transactions, ordered by id. Null with an error in upstream mode.',
    complexity: transactionsCost,
    args: listArgs,
    resolve: async ({ index }, page, context) =>
      orThrow(await listTransactions(transactionPart(context), slotOf(index), page)),
  }),
  updates: t.field({
    type: LedgerUpdateConnection,
    nullable: true,
    description:
      'A list of the ledger updates of the milestone over all addresses, in the order of the log. Null with an error if they have been pruned.',
    complexity: listCost,
    args: listArgs,
    resolve: async (view, page, context) => {
      const { parameters } = context.services
      const reads = milestoneUpdateReads(context)
      return orThrow(await listUpdatesOfMilestone(parameters, reads, view, page))
    },
  }),
}))

builder.objectFields(Milestone, (t) => {
  const count = (name: 'blocks' | 'transactions' | 'failed', description: string) =>
    t.field({
      type: 'UInt32',
      nullable: true,
      description,
      complexity: fieldCost.count,
      resolve: async ({ index }, _args, context) => (await milestoneCounts(context, index))?.[name],
    })
  return {
    blockCount: count(
      'blocks',
      'The number of accepted blocks of the slot. Null with an error in upstream mode.',
    ),
    transactionCount: count(
      'transactions',
      'The number of accepted transactions of the slot. Null with an error in upstream mode.',
    ),
    failedTransactionCount: count(
      'failed',
      'The number of transactions of the slot that failed permanently, as in transactionsFailed of ActivityPoint. Null for slots that an earlier version committed without counting them. Null with an error in upstream mode.',
    ),
  }
})

function slotOf(index: number) {
  return { fromMilestone: index, toMilestone: index }
}

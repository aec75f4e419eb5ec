import { present } from '../../lib/assert.ts'
import { transactionOf } from '../../protocol/ids.ts'
import { outputLife } from '../../service/outputs/output-life.ts'
import { orThrow } from '../errors.ts'
import { BlockNode } from './block.ts'
import { builder } from './builder.ts'
import { LedgerUpdate } from './ledger-updates.ts'
import { blockInBatch, milestoneInBatch, outputInBatch, transactionInBatch } from './loaders.ts'
import { Milestone } from './milestone.ts'
import { OutputNode } from './output.ts'
import { reads } from './prices.ts'
import { TransactionNode } from './transaction.ts'

/** What outputs and updates lead to. */

builder.objectFields(OutputNode, (t) => ({
  transaction: t.field({
    type: TransactionNode,
    nullable: true,
    description:
      'The transaction that created it; null, or null with an error, where an upstream node does not give it.',
    complexity: reads(1),
    resolve: ({ outputId }, _args, context) => transactionInBatch(context, transactionOf(outputId)),
  }),
  spendingTransaction: t.field({
    type: TransactionNode,
    nullable: true,
    description:
      'The transaction that spent it; null while it is unspent, and, with an error, where an upstream node does not give it.',
    complexity: reads(1),
    resolve: async (view, _args, context) => {
      if (view.spentSlot === undefined) return null
      const { spentBy } = orThrow(await outputLife(context.services, view))
      return spentBy && transactionInBatch(context, spentBy)
    },
  }),
  block: t.field({
    type: BlockNode,
    nullable: true,
    description:
      'The block that carried its transaction; null for an output of the genesis, and, with an error, where an upstream node does not give it.',
    complexity: reads(1),
    resolve: async (view, _args, context) =>
      blockInBatch(context, orThrow(await outputLife(context.services, view)).blockId),
  }),
  milestone: t.field({
    type: Milestone,
    nullable: true,
    description: 'The milestone it was booked in; null while that slot is not committed.',
    complexity: reads(1),
    resolve: ({ bookedSlot }, _args, context) => milestoneInBatch(context, bookedSlot),
  }),
  spentMilestone: t.field({
    type: Milestone,
    nullable: true,
    description:
      'The milestone it was spent in; null while it is unspent or that slot is not committed.',
    complexity: reads(1),
    resolve: ({ spentSlot }, _args, context) =>
      spentSlot === undefined ? null : milestoneInBatch(context, spentSlot),
  }),
}))

builder.objectFields(LedgerUpdate, (t) => ({
  milestone: t.field({
    type: Milestone,
    nullable: true,
    description: 'The milestone it belongs to.',
    complexity: reads(1),
    resolve: ({ milestoneIndex }, _args, context) => milestoneInBatch(context, milestoneIndex),
  }),
  transaction: t.field({
    type: TransactionNode,
    nullable: true,
    description:
      'The transaction that created the output, or spent it; null for one that is not known, and, with an error, where an upstream node does not give it.',
    complexity: reads(2),
    resolve: async ({ outputId, isSpent }, _args, context) => {
      if (!isSpent) return transactionInBatch(context, transactionOf(outputId))
      const view = present(await outputInBatch(context, outputId), outputId)
      const { spentBy } = orThrow(await outputLife(context.services, view))
      return spentBy && transactionInBatch(context, spentBy)
    },
  }),
}))

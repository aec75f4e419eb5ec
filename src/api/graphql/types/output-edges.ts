import { present } from '../../../lib/assert.ts'
import { outputProvenance } from '../../../service/outputs/output-provenance.ts'
import { orThrow } from '../../errors/errors.ts'
import { builder } from '../builder.ts'
import { reads } from '../execution/prices.ts'
import { creatorInBatch, loggedBlock, loggedTransaction, outputInBatch } from '../loaders.ts'
import { BlockNode } from './block.ts'
import { LedgerUpdate } from './ledger-updates.ts'
import { milestoneField } from './milestone.ts'
import { OutputNode } from './output.ts'
import { TransactionNode } from './transaction.ts'

/** Fields from outputs and ledger updates to related objects. */

builder.objectFields(OutputNode, (t) => ({
  transaction: t.field({
    type: TransactionNode,
    nullable: true,
    description:
      'The transaction that created the output. Null, possibly with an error, if an upstream node does not provide it.',
    complexity: reads(1),
    resolve: (output, _args, context) => creatorInBatch(context, output),
  }),
  spendingTransaction: t.field({
    type: TransactionNode,
    nullable: true,
    description:
      'The transaction that spent the output. Null if it is unspent. Null with an error if an upstream node does not provide it.',
    complexity: reads(1),
    resolve: async (view, _args, context) => {
      if (view.spentSlot === undefined) return null
      const { spentBy } = orThrow(await outputProvenance(context.services, view))
      return spentBy && loggedTransaction(context, spentBy)
    },
  }),
  block: t.field({
    type: BlockNode,
    nullable: true,
    description:
      'The block that carried the transaction. Null for an output of the genesis. Null with an error if an upstream node does not provide it.',
    complexity: reads(1),
    resolve: async (view, _args, context) => {
      const { blockId = orThrow(await outputProvenance(context.services, view)).blockId } = view
      return loggedBlock(context, blockId)
    },
  }),
  milestone: milestoneField(
    t,
    'The milestone of the slot in which the output was booked. Null until the slot is committed, and if the milestone is not known.',
    ({ bookedSlot }) => bookedSlot,
  ),
  spentMilestone: milestoneField(
    t,
    'The milestone of the slot in which the output was spent. Null if it is unspent, and until the slot is committed.',
    ({ spentSlot }) => spentSlot,
  ),
}))

builder.objectFields(LedgerUpdate, (t) => ({
  milestone: milestoneField(
    t,
    'The milestone that contains the update. Null if the milestone is not known.',
    ({ milestoneIndex }) => milestoneIndex,
  ),
  transaction: t.field({
    type: TransactionNode,
    nullable: true,
    description:
      'The transaction that created or spent the output. Null if it is not known. Null with an error if an upstream node does not provide it.',
    complexity: reads(2),
    resolve: async ({ outputId, isSpent }, _args, context) => {
      const view = present(await outputInBatch(context, outputId), outputId)
      if (!isSpent) return creatorInBatch(context, view)
      const { spentBy } = orThrow(await outputProvenance(context.services, view))
      return spentBy && loggedTransaction(context, spentBy)
    },
  }),
}))

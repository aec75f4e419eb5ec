import { bytesToHex } from '../../lib/hex.ts'
import { type MilestoneView, readMilestone } from '../../service/slots/read-milestone.ts'
import { builder } from './builder.ts'
import { uint32s } from './exposed.ts'
import { byIndex } from './load-node.ts'
import { milestoneInBatch } from './loaders.ts'
import { SlotCommitmentType } from './model.ts'
import { free, reads } from './prices.ts'

/** A milestone: a committed slot and its part of the log. */

/** A committed slot. */
export const Milestone = builder.nodeRef<MilestoneView>('Milestone', {
  id: { resolve: ({ index }) => index },
  loadOne: byIndex(milestoneInBatch),
})

Milestone.implement({
  description: 'A committed slot, and its part of the log of ledger updates.',
  fields: (t) => ({
    ...uint32s(t, {
      index: 'The slot.',
      timestamp: 'The end of the slot, in Unix seconds.',
    }),
    endedAt: t.field({
      type: 'DateTime',
      description: 'The end of the slot.',
      resolve: ({ timestamp }) => timestamp * 1_000,
    }),
    commitmentId: t.expose('commitmentId', {
      type: 'CommitmentId',
      description: 'The id of its commitment.',
    }),
    commitment: t.field({
      complexity: free,
      type: SlotCommitmentType,
      description: 'What the commitment says.',
      resolve: (view) => view.commitment(),
    }),
    bytes: t.field({
      type: 'Hex',
      description: 'The serialized commitment, 89 bytes.',
      resolve: (view) => bytesToHex(view.bytes),
    }),
    updateCount: t.expose('updateCount', {
      type: 'UInt64',
      description: 'How many ledger updates it has, over all addresses.',
    }),
    firstCursor: t.exposeString('firstCursor', {
      nullable: true,
      description: 'The cursor of its first update; null where it has none.',
    }),
    lastCursor: t.exposeString('lastCursor', {
      nullable: true,
      description:
        'The cursor of its last update: a feed after it begins with the next milestone. Null where it has none.',
    }),
  }),
})

builder.queryField('milestone', (t) =>
  t.field({
    complexity: reads(1),
    type: Milestone,
    nullable: true,
    description: 'A milestone; null where the slot is not committed.',
    args: { index: t.arg({ type: 'UInt32', description: 'The slot; left out: the newest.' }) },
    resolve: (_root, { index }, context) =>
      index == null ? readMilestone(context.services, undefined) : milestoneInBatch(context, index),
  }),
)

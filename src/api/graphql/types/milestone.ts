import type { FieldRef } from '@pothos/core'
import { bytesToHex } from '../../../lib/hex.ts'
import type { SlotIndex } from '../../../protocol/primitives.ts'
import { slotOfTime } from '../../../protocol/slots.ts'
import type { Services } from '../../../service/services.ts'
import { type MilestoneView, readMilestone } from '../../../service/slots/read-milestone.ts'
import { builder, type GatewayContext } from '../builder.ts'
import { exposed, exposedOrNull, type FieldsOf, type Types } from '../declare.ts'
import { free, reads } from '../execution/prices.ts'
import { byIndex } from '../load-node.ts'
import { milestoneInBatch } from '../loaders.ts'
import { SlotCommitmentType } from '../model/model.ts'

/** Milestones: committed slots with their parts of the log. */

export const Milestone = builder.nodeRef<MilestoneView>('Milestone', {
  id: { resolve: ({ index }) => index },
  loadOne: byIndex(milestoneInBatch),
})

Milestone.implement({
  description: 'A milestone: a committed slot with its part of the log of ledger updates.',
  fields: (t) => ({
    ...exposed(t, 'UInt32', {
      index: 'The index of the milestone, which equals the index of its slot.',
      timestamp: 'The end of the slot, in Unix seconds.',
    }),
    endedAt: t.field({
      type: 'DateTime',
      description: 'The end of the slot.',
      resolve: ({ timestamp }) => timestamp * 1_000,
    }),
    ...exposed(t, 'CommitmentId', { commitmentId: 'The id of the slot commitment.' }),
    commitment: t.field({
      complexity: free,
      type: SlotCommitmentType,
      description: 'The content of the slot commitment.',
      resolve: (view) => view.commitment(),
    }),
    bytes: t.field({
      type: 'Hex',
      description: 'The serialized slot commitment, 89 bytes.',
      resolve: (view) => bytesToHex(view.bytes),
    }),
    ...exposed(t, 'UInt64', {
      updateCount: 'The number of ledger updates of the milestone over all addresses.',
    }),
    ...exposedOrNull(t, 'String', {
      firstCursor: 'The cursor of the first update. Null if the milestone has no updates.',
      lastCursor:
        'The cursor of the last update. A feed that starts after it begins with the next milestone. Null if the milestone has no updates.',
    }),
  }),
})

/** Declares a field for the milestone of a slot. It is null if the object has no such slot, and while the milestone is not known. */
export function milestoneField<Parent>(
  t: FieldsOf<Parent>,
  description: string,
  slotOf: (parent: Parent) => SlotIndex | null | undefined,
  complexity = reads(1),
): FieldRef<Types> {
  const resolve = (parent: Parent, _args: object, context: GatewayContext) => {
    const slot = slotOf(parent)
    return slot == null ? null : milestoneInBatch(context, slot)
  }
  return t.field({ type: Milestone, nullable: true, description, complexity, resolve } as never)
}

/** Declares the index of the milestone at whose end the other fields hold. */
export function milestoneIndexField<Parent extends { readonly slot: SlotIndex }>(
  t: FieldsOf<Parent>,
): FieldRef<Types> {
  const options = { type: 'UInt32', description: 'The index of the milestone.' }
  return t.expose('slot' as never, options as never)
}

builder.queryField('milestone', (t) =>
  t.field({
    complexity: reads(1),
    type: Milestone,
    nullable: true,
    description:
      'The milestone with the given index, or of the slot at a time. Null if the slot is not committed, or if the ledger began with a later snapshot that does not contain the milestone.',
    args: {
      index: t.arg({
        type: 'UInt32',
        description: 'The index of the milestone. Defaults to the newest milestone.',
      }),
      at: t.arg({
        type: 'DateTime',
        description:
          'A time in the slot of the milestone. It is used if index is not given. The genesis slot contains all times before the next slot.',
      }),
    },
    resolve: (_root, { index, at }, context) => {
      const { services } = context
      const slot = index ?? (at == null ? undefined : slotAt(services, at))
      return slot === undefined
        ? readMilestone(services, undefined)
        : milestoneInBatch(context, slot)
    },
  }),
)

function slotAt({ parameters }: Pick<Services, 'parameters'>, unixMs: number): SlotIndex {
  return slotOfTime(parameters, BigInt(unixMs) * 1_000_000n)
}

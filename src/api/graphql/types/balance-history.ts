import { slotEnd } from '../../../protocol/slots.ts'
import {
  type BalanceHistory,
  type BalancePoint,
  readBalanceHistory,
} from '../../../service/addresses/balance-history.ts'
import { maxPageSize } from '../../../service/updates/list-ledger-updates.ts'
import { orThrow } from '../../errors/errors.ts'
import { builder } from '../builder.ts'
import { exposed, exposedOrNull } from '../declare.ts'
import { pageCost } from '../execution/prices.ts'
import { AddressNode } from './address-node.ts'
import { milestoneIndexField } from './milestone.ts'

/** The balance of an address over time. */

const BalancePointType = builder.objectRef<BalancePoint>('BalancePoint').implement({
  description: 'The base token balance of an address at the end of a milestone.',
  fields: (t) => ({
    milestoneIndex: milestoneIndexField(t),
    milestoneEndedAt: t.field({
      type: 'DateTime',
      description: 'The end of the slot of the milestone.',
      resolve: ({ slot }, _args, { services }) => slotEnd(services.parameters, slot) * 1_000,
    }),
    ...exposed(t, 'UInt64', {
      total: 'The number of base tokens that the address owned, in the smallest unit.',
    }),
    ...exposedOrNull(t, 'UInt32', {
      changedIn:
        'The index of the milestone of the last update or expiration up to this milestone. The total has not changed since then. If the gateway began with a snapshot, expirations before it are in its milestone. Null before the first update.',
    }),
    changedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'The end of the slot of changedIn. Null before the first update.',
      resolve: ({ changedIn }, _args, { services }) =>
        changedIn === undefined ? null : slotEnd(services.parameters, changedIn) * 1_000,
    }),
  }),
})

const BalanceHistoryType = builder.objectRef<BalanceHistory>('BalanceHistory').implement({
  description: 'The balance history of an address: its balances at selected milestones.',
  fields: (t) => ({
    ...exposed(t, [BalancePointType], {
      points:
        'The balances, the oldest first: at the first and the last milestone, and between them at milestones whose index is a multiple of a power of two. The power of two is the smallest that the number of points allows.',
    }),
    ...exposedOrNull(t, 'UInt32', {
      knownFrom:
        'The index of the first milestone with a known balance, if earlier updates have been pruned. There are no points before it. Null if balances are known since the genesis.',
    }),
  }),
})

builder.objectField(AddressNode, 'balanceHistory', (t) =>
  t.field({
    type: BalanceHistoryType,
    nullable: true,
    complexity: ({ points }) => pageCost({ first: points }),
    description:
      'The balance of the address over time, at a limited number of milestones. The cost does not depend on the length of the history. An address that never owned base tokens has no points. Null with an error if an argument is out of range.',
    args: {
      points: t.arg.int({
        required: true,
        defaultValue: 100,
        description: `The maximum number of points, from 0 to ${maxPageSize}.`,
      }),
      fromMilestone: t.arg({
        type: 'UInt32',
        description:
          'The index of the first milestone. Defaults to the milestone of the first change of the address.',
      }),
      toMilestone: t.arg({
        type: 'UInt32',
        description:
          'The index of the last milestone. The newest milestone is used by default and for a future index.',
      }),
    },
    resolve: async ({ key: address }, { points, fromMilestone, toMilestone }, { services }) =>
      orThrow(await readBalanceHistory(services, { address, points, fromMilestone, toMilestone })),
  }),
)

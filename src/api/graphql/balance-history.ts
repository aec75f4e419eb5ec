import { slotEnd } from '../../protocol/slots.ts'
import {
  type BalanceHistory,
  type BalancePoint,
  readBalanceHistory,
} from '../../service/addresses/balance-history.ts'
import { maximumPageSize } from '../../service/updates/list-ledger-updates.ts'
import { orThrow } from '../errors.ts'
import { AddressNode } from './address-node.ts'
import { builder } from './builder.ts'
import { free, pageCost } from './prices.ts'

/** What an address owned over its whole history. */

const BalancePointType = builder.objectRef<BalancePoint>('BalancePoint').implement({
  description: 'The base tokens of an address at the end of a milestone.',
  fields: (t) => ({
    milestoneIndex: t.expose('slot', { type: 'UInt32', description: 'The milestone.' }),
    milestoneEndedAt: t.field({
      type: 'DateTime',
      description: 'The end of that slot.',
      resolve: ({ slot }, _args, { services }) => slotEnd(services.parameters, slot) * 1_000,
    }),
    total: t.expose('total', {
      type: 'UInt64',
      description: 'All base tokens that the address owned, in the smallest unit.',
    }),
    changedIn: t.field({
      type: 'UInt32',
      nullable: true,
      description:
        'The milestone of the last update or expiration until then, since which this is the total; null before the first.',
      resolve: ({ changedIn }) => changedIn,
    }),
    changedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'The end of that slot; null before the first.',
      resolve: ({ changedIn }, _args, { services }) =>
        changedIn === undefined ? null : slotEnd(services.parameters, changedIn) * 1_000,
    }),
  }),
})

const BalanceHistoryType = builder.objectRef<BalanceHistory>('BalanceHistory').implement({
  description: 'The base tokens of an address at some milestones, the oldest first.',
  fields: (t) => ({
    points: t.field({
      complexity: free,
      type: [BalancePointType],
      description:
        'The first and the last milestone, and between them those whose index is a multiple of a power of two, as close to each other as the number of points allows.',
      resolve: ({ points }) => [...points],
    }),
    knownFrom: t.field({
      type: 'UInt32',
      nullable: true,
      description:
        'The first milestone of which balances are known, for the updates before are no longer kept: points begin there at the earliest. Null where they are known since the genesis.',
      resolve: ({ knownFrom }) => knownFrom,
    }),
  }),
})

builder.objectField(AddressNode, 'balanceHistory', (t) =>
  t.field({
    type: BalanceHistoryType,
    nullable: true,
    complexity: ({ points }) => pageCost({ first: points }),
    description:
      'What it owned over time, at so many milestones that it costs the same however long the history is. An address that never owned anything has no points.',
    args: {
      points: t.arg.int({
        required: true,
        defaultValue: 100,
        description: `At most so many points, 0 to ${maximumPageSize}.`,
      }),
      fromMilestone: t.arg({
        type: 'UInt32',
        description: 'The first milestone; left out: that of the first change of the address.',
      }),
      toMilestone: t.arg({
        type: 'UInt32',
        description: 'The last milestone; left out, or to come: the newest.',
      }),
    },
    resolve: async ({ key: address }, { points, fromMilestone, toMilestone }, { services }) =>
      orThrow(await readBalanceHistory(services, { address, points, fromMilestone, toMilestone })),
  }),
)

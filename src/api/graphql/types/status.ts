import { present } from '../../../lib/assert.ts'
import { readHealth } from '../../../service/network/health.ts'
import { readStatus, type SlotTime, type Status } from '../../../service/network/read-status.ts'
import { readMilestone } from '../../../service/slots/read-milestone.ts'
import { builder } from '../builder.ts'
import { enumOf, exposed } from '../declare.ts'
import { free, reads } from '../execution/prices.ts'
import { GatewayRole, HealthType } from './health.ts'
import { Milestone } from './milestone.ts'

/** The status of the ledger and the gateway, for a home page. */

const LedgerMode = enumOf('LedgerMode', 'The source of the ledger of a gateway.', {
  EMBEDDED: 'The gateway, or another gateway on its database, maintains the ledger.',
  UPSTREAM: 'The gateway follows the ledger of nodes.',
})

const SlotTimeType = builder.objectRef<SlotTime>('SlotTime').implement({
  description: 'A slot with its end time.',
  fields: (t) => ({
    ...exposed(t, 'UInt32', { slot: 'The index of the slot.' }),
    end: t.field({
      type: 'DateTime',
      description: 'The end of the slot, which is the start of the next slot.',
      resolve: ({ end }) => end * 1_000,
    }),
  }),
})

export const StatusType = builder.objectRef<Status>('Status').implement({
  description:
    'The status of the ledger and the gateway. All counts are as of the newest committed slot. They are read from counters, so their cost does not depend on the size of the ledger.',
  fields: (t) => ({
    ...exposed(t, SlotTimeType, {
      committed: 'The newest committed slot, which is the slot of the newest milestone.',
      finalized:
        'The newest final slot. The gateway never reverts a committed slot, so it is the newest committed slot.',
      current: 'The current slot by the clock of the gateway.',
    }),
    newestMilestone: t.field({
      complexity: free,
      type: Milestone,
      description: 'The newest milestone.',
      resolve: async ({ committed }, _args, { services }) =>
        present(await readMilestone(services, committed.slot), 'the newest milestone'),
    }),
    ...exposed(t, 'UInt64', {
      lagSeconds:
        'Seconds since the end of the newest committed slot. A slot is committed some slots after its end, so the value is never close to 0.',
      baseTokenSupply: 'The total supply of base tokens, in the smallest unit.',
      addresses: 'The number of addresses that own base tokens.',
      unspentOutputs: 'The number of unspent outputs.',
      accounts:
        'The number of accounts, which is the number of unspent account outputs. Implicit accounts are not included.',
    }),
    blocksPerSecond: t.float({
      nullable: true,
      description:
        'The number of accepted blocks per second over the newest minute of committed slots. Null in upstream mode, because nodes do not report blocks with their slots.',
      resolve: ({ blocksPerSecond }) => blocksPerSecond ?? null,
    }),
    ...exposed(t, 'Float', {
      transactionsPerSecond:
        'The number of accepted transactions per second over the newest minute of committed slots.',
    }),
    ...exposed(t, GatewayRole, {
      role: 'The role of the gateway among the gateways on its database.',
    }),
    health: t.field({
      complexity: reads(1),
      type: HealthType,
      description: 'The health of the gateway.',
      resolve: (_status, _args, { services, isStopping }) => readHealth(services, { isStopping }),
    }),
    ...exposed(t, LedgerMode, { mode: 'The source of the ledger.' }),
  }),
})

builder.queryField('status', (t) =>
  t.field({
    complexity: reads(2),
    type: StatusType,
    description: 'The status of the ledger and the gateway.',
    resolve: (_root, _args, { services }) => readStatus(services),
  }),
)

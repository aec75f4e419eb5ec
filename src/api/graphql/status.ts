import { present } from '../../lib/assert.ts'
import { readHealth } from '../../service/network/health.ts'
import { readStatus, type SlotTime, type Status } from '../../service/network/read-status.ts'
import { readMilestone } from '../../service/slots/read-milestone.ts'
import { builder } from './builder.ts'
import { enumOf } from './enum-of.ts'
import { uint64s } from './exposed.ts'
import { GatewayRole, HealthType } from './health.ts'
import { Milestone } from './milestone.ts'
import { free, reads } from './prices.ts'

/** How the ledger stands, for a home page. */

const LedgerMode = enumOf('LedgerMode', 'Where the ledger of a gateway comes from.', {
  EMBEDDED: 'The gateway, or another one on its database, keeps it itself.',
  UPSTREAM: 'It follows nodes.',
})

const SlotTimeType = builder.objectRef<SlotTime>('SlotTime').implement({
  description: 'A slot and its time.',
  fields: (t) => ({
    slot: t.expose('slot', { type: 'UInt32', description: 'The slot.' }),
    end: t.field({
      type: 'DateTime',
      description: 'When the slot ends: the first moment of the next one.',
      resolve: ({ end }) => end * 1_000,
    }),
  }),
})

/** How the ledger stands. */
export const StatusType = builder.objectRef<Status>('Status').implement({
  description:
    'How the ledger stands. All counts are as of the newest committed slot, from counters: they cost the same for a ledger of any size.',
  fields: (t) => ({
    committed: t.expose('committed', {
      complexity: free,
      type: SlotTimeType,
      description: 'The newest committed slot: the newest milestone.',
    }),
    newestMilestone: t.field({
      complexity: free,
      type: Milestone,
      description: 'The same as a milestone.',
      resolve: async ({ committed }, _args, { services }) =>
        present(await readMilestone(services, committed.slot), 'the newest milestone'),
    }),
    finalized: t.expose('finalized', {
      complexity: free,
      type: SlotTimeType,
      description:
        'The newest slot that is final. A gateway undoes no slot, so it is the newest committed one.',
    }),
    current: t.expose('current', {
      complexity: free,
      type: SlotTimeType,
      description: 'The slot of this moment by the clock of the gateway.',
    }),
    lagSeconds: t.expose('lagSeconds', {
      type: 'UInt64',
      description:
        'Seconds from the end of the newest committed slot until now. A slot is committed some slots after its end, so it is never near zero.',
    }),
    blocksPerSecond: t.float({
      nullable: true,
      description:
        'Accepted blocks a second over the newest minute of committed slots. Null in upstream mode, where the node does not report blocks with their slots.',
      resolve: ({ blocksPerSecond }) => blocksPerSecond ?? null,
    }),
    transactionsPerSecond: t.exposeFloat('transactionsPerSecond', {
      description: 'Accepted transactions a second over the same time.',
    }),
    ...uint64s(t, {
      baseTokenSupply: 'All base tokens in being, in the smallest unit.',
      addresses: 'Addresses that own base tokens.',
      unspentOutputs: 'Unspent outputs.',
      accounts: 'Accounts: unspent account outputs. Implicit accounts are not among them.',
    }),
    role: t.expose('role', {
      type: GatewayRole,
      description: 'The role of this gateway among those on its database.',
    }),
    health: t.field({
      complexity: reads(1),
      type: HealthType,
      description: 'Whether this gateway can do its work.',
      resolve: (_status, _args, { services, isStopping }) => readHealth(services, { isStopping }),
    }),
    mode: t.expose('mode', { type: LedgerMode, description: 'Where the ledger comes from.' }),
  }),
})

builder.queryField('status', (t) =>
  t.field({
    complexity: reads(2),
    type: StatusType,
    description: 'How the ledger stands, for a home page.',
    resolve: (_root, _args, { services }) => readStatus(services),
  }),
)

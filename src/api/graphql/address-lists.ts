import { type BalanceRange, readBalanceDistribution } from '../../service/addresses/read-address.ts'
import { type AddressTotal, listAddresses } from '../../service/lists/list-addresses.ts'
import { orThrow } from '../errors.ts'
import { AddressNode, viewOfKey } from './address-node.ts'
import { builder } from './builder.ts'
import { listConnection } from './lists.ts'
import { itemsCost, listCost } from './prices.ts'

/** Lists of addresses by what they own. */

const AddressConnection = listConnection(
  'Address',
  AddressNode,
  'A page of addresses, the richest first (Relay connection).',
  { nodeOf: ({ address }: AddressTotal) => viewOfKey(address) },
)

builder.queryField('addresses', (t) =>
  t.field({
    type: AddressConnection,
    nullable: true,
    description:
      'All addresses that own base tokens as of the newest milestone, the richest first; of those that own the same, the last by bytes. An address that gains or loses while the list is walked moves in it.',
    complexity: listCost,
    args: {
      first: t.arg.int({
        description:
          'At most so many of the richest, 0 to 1000. Without first and last the first 20.',
      }),
      after: t.arg.string({ description: 'A cursor of this list; only poorer ones.' }),
      last: t.arg.int({ description: 'At most so many of the poorest, 0 to 1000.' }),
      before: t.arg.string({ description: 'A cursor of this list; only richer ones.' }),
    },
    resolve: async (_root, page, { services }) => orThrow(await listAddresses(services, page)),
  }),
)

const BalanceRangeType = builder.objectRef<BalanceRange>('BalanceRange').implement({
  description: 'How many addresses own how much, within a power of ten.',
  fields: (t) => ({
    from: t.field({
      type: 'UInt64',
      description: 'The least amount of base tokens, itself included: a power of ten.',
      resolve: ({ exponent }) => 10n ** BigInt(exponent),
    }),
    to: t.field({
      type: 'UInt64',
      description: 'Ten times that, itself excluded.',
      resolve: ({ exponent }) => 10n ** BigInt(exponent + 1),
    }),
    addressCount: t.expose('addresses', {
      type: 'UInt64',
      description: 'How many addresses own so much.',
    }),
    total: t.field({
      type: 'UInt64',
      description: 'Base tokens that they own together.',
      resolve: ({ total }) => total,
    }),
  }),
})

builder.queryField('balanceDistribution', (t) =>
  t.field({
    type: [BalanceRangeType],
    description:
      'How the base tokens are distributed as of the newest milestone: the ranges that have addresses, the poorest first; at most 19.',
    complexity: itemsCost(19),
    resolve: async (_root, _args, { services }) => [...(await readBalanceDistribution(services))],
  }),
)

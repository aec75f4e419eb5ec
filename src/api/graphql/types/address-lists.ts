import {
  type BalanceRange,
  readBalanceDistribution,
} from '../../../service/addresses/read-address.ts'
import {
  type AddressTotal,
  listAddresses,
  listMultiAddresses,
} from '../../../service/lists/list-addresses.ts'
import { orThrow } from '../../errors/errors.ts'
import { builder } from '../builder.ts'
import { exposed } from '../declare.ts'
import { itemsCost, listCost } from '../execution/prices.ts'
import { listConnection, pageArgs } from '../lists.ts'
import { AddressNode, viewOfKey } from './address-node.ts'

/** Lists of addresses, and the distribution of balances. */

const AddressConnection = listConnection(
  'Address',
  AddressNode,
  'A page of addresses (Relay connection).',
  { nodeOf: ({ address }: Pick<AddressTotal, 'address'>) => viewOfKey(address) },
)

builder.queryField('addresses', (t) =>
  t.field({
    type: AddressConnection,
    nullable: true,
    description:
      'A list of all addresses that own base tokens as of the newest milestone, the largest balance first. Addresses with equal balances are in descending order of their bytes. An address whose balance changes between pages moves in the list.',
    complexity: listCost,
    args: {
      first: t.arg.int({
        description:
          'The maximum number of addresses from the beginning of the list, from 0 to 1000. Defaults to 20 if last is not given.',
      }),
      after: t.arg.string({
        description:
          'A cursor of this list: only addresses after its position are returned, which have smaller balances.',
      }),
      last: t.arg.int({
        description: 'The maximum number of addresses from the end of the list, from 0 to 1000.',
      }),
      before: t.arg.string({
        description:
          'A cursor of this list: only addresses before its position are returned, which have larger balances.',
      }),
    },
    resolve: async (_root, page, { services }) => orThrow(await listAddresses(services, page)),
  }),
)

builder.objectField(AddressNode, 'memberOf', (t) =>
  t.field({
    type: AddressConnection,
    description:
      'A list of the multi addresses that the address is a member of, ordered by their bytes. It contains those that an output names which is unspent as of the newest milestone, also inside of a restricted address.',
    complexity: listCost,
    args: pageArgs,
    resolve: async ({ key }, page, { services }) =>
      orThrow(await listMultiAddresses(services, key, page)),
  }),
)

const BalanceRangeType = builder.objectRef<BalanceRange>('BalanceRange').implement({
  description: 'The addresses whose balance is within one power of ten.',
  fields: (t) => ({
    from: t.field({
      type: 'UInt64',
      description:
        'The lower bound of the balance in base tokens, inclusive. It is a power of ten.',
      resolve: ({ exponent }) => 10n ** BigInt(exponent),
    }),
    to: t.field({
      type: 'UInt64',
      description:
        'The upper bound of the balance in base tokens, exclusive. It is ten times from.',
      resolve: ({ exponent }) => 10n ** BigInt(exponent + 1),
    }),
    addressCount: t.expose('addresses', {
      type: 'UInt64',
      description: 'The number of addresses whose balance is in the range.',
    }),
    ...exposed(t, 'UInt64', {
      total: 'The sum of the balances of these addresses, in base tokens.',
    }),
  }),
})

builder.queryField('balanceDistribution', (t) =>
  t.field({
    type: [BalanceRangeType],
    description:
      'The distribution of base tokens as of the newest milestone: at most 19 ranges of balances, the smallest first. Ranges without addresses are left out.',
    complexity: itemsCost(19),
    resolve: async (_root, _args, { services }) => [...(await readBalanceDistribution(services))],
  }),
)

import {
  type AddressAsOf,
  asOfUpdateLimit,
  listOutputsAsOf,
  readAddressAsOf,
} from '../../service/addresses/address-as-of.ts'
import { orThrow } from '../errors.ts'
import { AddressBalanceType, NativeTokenBalance } from './address.ts'
import { AddressNode } from './address-node.ts'
import { builder } from './builder.ts'
import { listArgs } from './lists.ts'
import { OutputConnection } from './output-lists.ts'
import { fieldCost, free, itemsCost, listCost } from './prices.ts'

/** What an address owned at the end of a former milestone. */

const AddressAsOfType = builder.objectRef<AddressAsOf>('AddressAsOf').implement({
  description:
    'What an address owned at the end of a milestone, computed from its own updates up to there.',
  fields: (t) => ({
    milestoneIndex: t.expose('slot', { type: 'UInt32', description: 'The milestone.' }),
    balance: t.field({
      complexity: free,
      type: AddressBalanceType,
      description: 'Its base tokens.',
      resolve: ({ slot, balance }) => ({ slot, ...balance }),
    }),
    nativeTokens: t.field({
      type: [NativeTokenBalance],
      description: 'Its native tokens, by id.',
      complexity: itemsCost(100),
      resolve: ({ tokens }) => [...tokens],
    }),
    unspentOutputs: t.field({
      type: OutputConnection,
      description:
        'The outputs that the balance was made of, by the slot of their booking and by id. What has become of them since is in their own fields.',
      complexity: listCost,
      args: listArgs,
      resolve: async (asOf, page) => orThrow(await listOutputsAsOf(asOf, page)),
    }),
  }),
})

builder.objectField(AddressNode, 'asOf', (t) =>
  t.field({
    type: AddressAsOfType,
    nullable: true,
    complexity: fieldCost.mana,
    description: `What it owned at the end of a milestone. Null, with an error, for a milestone that is not committed, where updates of the address are no longer kept, and where it had more than ${asOfUpdateLimit} until then.`,
    args: {
      milestoneIndex: t.arg({ type: 'UInt32', required: true, description: 'The milestone.' }),
    },
    resolve: async ({ key: address }, { milestoneIndex: slot }, { services, budget }) =>
      orThrow(await readAddressAsOf(services, { address, slot }, budget.signal)),
  }),
)

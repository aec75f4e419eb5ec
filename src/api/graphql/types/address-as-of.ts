import {
  type AddressAsOf,
  asOfUpdateLimit,
  listOutputsAsOf,
  readAddressAsOf,
} from '../../../service/addresses/address-as-of.ts'
import { orThrow } from '../../errors/errors.ts'
import { builder } from '../builder.ts'
import { fieldCost, free, itemsCost, listCost } from '../execution/prices.ts'
import { listArgs } from '../lists.ts'
import { AddressBalanceType, NativeTokenBalance } from './address.ts'
import { AddressNode } from './address-node.ts'
import { milestoneIndexField } from './milestone.ts'
import { OutputConnection } from './output-lists.ts'

/** The holdings of an address at the end of an earlier milestone. */

const AddressAsOfType = builder.objectRef<AddressAsOf>('AddressAsOf').implement({
  description:
    'The holdings of an address at the end of a milestone, computed from the ledger updates of the address up to that milestone.',
  fields: (t) => ({
    milestoneIndex: milestoneIndexField(t),
    balance: t.field({
      complexity: free,
      type: AddressBalanceType,
      description: 'The base token balance of the address.',
      resolve: ({ slot, balance }) => ({ slot, ...balance }),
    }),
    nativeTokens: t.field({
      type: [NativeTokenBalance],
      description: 'The native tokens of the address, ordered by token id.',
      complexity: itemsCost(100),
      resolve: ({ tokens }) => [...tokens],
    }),
    unspentOutputs: t.field({
      type: OutputConnection,
      description:
        'A list of the unspent outputs that made up the balance, ordered by the slot in which they were booked and then by id. The fields of an output have its current state.',
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
    description: `The holdings of the address at the end of a milestone. Null with an error if the milestone is not committed, if updates of the address have been pruned, and if the address had more than ${asOfUpdateLimit} updates up to the milestone.`,
    args: {
      milestoneIndex: t.arg({
        type: 'UInt32',
        required: true,
        description: 'The index of the milestone.',
      }),
    },
    resolve: async ({ key: address }, { milestoneIndex: slot }, { services, budget }) =>
      orThrow(await readAddressAsOf(services, { address, slot }, budget.signal)),
  }),
)

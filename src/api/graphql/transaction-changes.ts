import { type AddressChange, changesOf } from '../../service/blocks/transaction-changes.ts'
import { orThrow } from '../errors.ts'
import { AddressNode, viewOfKey } from './address-node.ts'
import { builder } from './builder.ts'
import { outputsInBatch } from './loaders.ts'
import { itemsCost } from './prices.ts'
import { TransactionNode } from './transaction.ts'

/** What a transaction moved. */

const TokenChange = builder.objectRef<AddressChange['tokens'][number]>('TokenChange').implement({
  description: 'What an address gave away and was given of a native token.',
  fields: (t) => ({
    tokenId: t.expose('tokenId', { type: 'FoundryId', description: 'The foundry of the token.' }),
    sent: t.expose('sent', { type: 'UInt256', description: 'In the inputs that it owned.' }),
    received: t.expose('received', {
      type: 'UInt256',
      description: 'In the outputs that it owns then.',
    }),
  }),
})

const AddressChangeType = builder.objectRef<AddressChange>('AddressChange').implement({
  description:
    'What an address gave away and was given by a transaction. The difference is what it gained or lost.',
  fields: (t) => ({
    address: t.field({
      type: AddressNode,
      description: 'The owner of inputs or outputs at the end of the slot of the transaction.',
      resolve: ({ address }) => viewOfKey(address),
    }),
    sent: t.expose('sent', {
      type: 'UInt64',
      description: 'Base tokens in the inputs that it owned.',
    }),
    received: t.expose('received', {
      type: 'UInt64',
      description: 'Base tokens in the outputs that it owns then.',
    }),
    tokens: t.field({
      type: [TokenChange],
      description: 'The same of each native token that was in one of them.',
      resolve: ({ tokens }) => [...tokens],
    }),
  }),
})

/** Up to 128 inputs and 128 outputs are read and decoded, and each may be of another address. */
const changesCost = itemsCost(256)

builder.objectField(TransactionNode, 'changes', (t) =>
  t.field({
    type: [AddressChangeType],
    nullable: true,
    description:
      'What it moved, by address: those that gave first, in the order of inputs, then those that were only given, in the order of outputs. Empty while it is pending and where it failed; null, with an error, where inputs are not known.',
    complexity: changesCost,
    resolve: async (view, _args, context) => {
      const [inputs, outputs] = await Promise.all([
        outputsInBatch(context, view.inputIds),
        outputsInBatch(context, view.outputIds),
      ])
      return [...orThrow(changesOf(context.services, view, { inputs, outputs }))]
    },
  }),
)

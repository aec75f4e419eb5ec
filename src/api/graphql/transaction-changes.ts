import type { Output } from '../../protocol/outputs.ts'
import type { AddressChange } from '../../service/blocks/kept-changes.ts'
import { changesOf } from '../../service/blocks/transaction-changes.ts'
import type { OutputView } from '../../service/outputs/read-output.ts'
import { listUpdatesOfTransaction } from '../../service/updates/list-transaction-updates.ts'
import { orThrow } from '../errors.ts'
import { AddressNode, viewOfKey } from './address-node.ts'
import { builder } from './builder.ts'
import { uint64s } from './exposed.ts'
import { LedgerUpdateConnection } from './ledger-updates.ts'
import { listArgs } from './lists.ts'
import { milestoneInBatch, outputsInBatch, transactionUpdateReads, withContent } from './loaders.ts'
import { free, itemsCost, listCost } from './prices.ts'
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
      complexity: free,
      type: AddressNode,
      description: 'The owner of inputs or outputs at the end of the slot of the transaction.',
      resolve: ({ address }) => viewOfKey(address),
    }),
    ...uint64s(t, {
      sent: 'Base tokens in the inputs that it owned.',
      received: 'Base tokens in the outputs that it owns then.',
    }),
    tokens: t.field({
      complexity: free,
      type: [TokenChange],
      description: 'The same of each native token that was in one of them.',
      resolve: ({ tokens }) => [...tokens],
    }),
  }),
})

/** As many outputs are read, and the positions of some rows of each. */
function updatesCost(args: Parameters<typeof listCost>[0]) {
  const { field, multiplier } = listCost(args)
  return { field: field + 2 * itemsCost(256).field, multiplier }
}

/** Up to 128 inputs and 128 outputs are read and decoded, and each may be of another address. */
const changesCost = itemsCost(256)

builder.objectField(TransactionNode, 'updates', (t) =>
  t.field({
    type: LedgerUpdateConnection,
    nullable: true,
    description:
      'The ledger updates that it made, of all addresses, in the order of the log. Null where no milestone has it, and, with an error, where they are no longer kept or its inputs are not known.',
    complexity: updatesCost,
    args: listArgs,
    resolve: async (listed, page, context) => {
      const { state, slot } = listed
      if (state === 'PENDING' || state === 'FAILED') return null
      const [view, milestone] = await Promise.all([
        withContent(context, listed),
        milestoneInBatch(context, slot),
      ])
      if (milestone === undefined) return null
      const [inputs, outputs] = await Promise.all([
        outputsInBatch(context, view.inputIds),
        outputsInBatch(context, view.outputIds),
      ])
      const moved = { view, milestone, inputs, outputs }
      const reads = transactionUpdateReads(context)
      return orThrow(await listUpdatesOfTransaction(context.services, reads, moved, page))
    },
  }),
)

builder.objectField(TransactionNode, 'changes', (t) =>
  t.field({
    type: [AddressChangeType],
    nullable: true,
    description:
      'What it moved, by address: those that gave first, in the order of inputs, then those that were only given, in the order of outputs. Empty while it is pending and where it failed; null, with an error, where inputs are not known.',
    complexity: changesCost,
    resolve: async (listed, _args, context) => {
      if (listed.state === 'PENDING' || listed.state === 'FAILED') return []
      const { keptChanges } = context.services
      const kept = keptChanges.get(listed)
      if (kept !== undefined) return [...kept]
      const view = await withContent(context, listed)
      const { payload, inputIds, outputIds } = view
      // It says itself what it creates, but for that of the genesis.
      const [inputs, outputs] = await Promise.all([
        outputsInBatch(context, inputIds),
        payload?.transaction.outputs ?? contentsOf(outputsInBatch(context, outputIds)),
      ])
      const moved = { inputs: inputs.map(({ output }) => output()), outputs }
      const changes = orThrow(changesOf(context.services, view, moved))
      keptChanges.set(view, changes)
      return [...changes]
    },
  }),
)

async function contentsOf(views: Promise<readonly OutputView[]>): Promise<readonly Output[]> {
  return (await views).map(({ output }) => output())
}

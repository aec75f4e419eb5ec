import { err } from '../../../lib/result.ts'
import type { Output } from '../../../protocol/outputs.ts'
import { maxPerTransaction } from '../../../protocol/primitives.ts'
import type { AddressChange } from '../../../service/blocks/change-cache.ts'
import { isBooked } from '../../../service/blocks/read-transaction.ts'
import { changesOf } from '../../../service/blocks/transaction-changes.ts'
import type { OutputView } from '../../../service/outputs/read-output.ts'
import { listUpdatesOfTransaction } from '../../../service/updates/list-transaction-updates.ts'
import { orThrow } from '../../errors/errors.ts'
import { builder } from '../builder.ts'
import { exposed } from '../declare.ts'
import { itemsCost, listCost } from '../execution/prices.ts'
import { listArgs } from '../lists.ts'
import {
  milestoneInBatch,
  outputsInBatch,
  transactionUpdateReads,
  withContent,
} from '../loaders.ts'
import { addressField } from './address-node.ts'
import { LedgerUpdateConnection } from './ledger-updates.ts'
import { TransactionNode } from './transaction.ts'

/** The ledger updates and balance changes of a transaction. */

const TokenChange = builder.objectRef<AddressChange['tokens'][number]>('TokenChange').implement({
  description: 'The amounts of a native token that an address sent and received in a transaction.',
  fields: (t) => ({
    ...exposed(t, 'FoundryId', {
      tokenId: 'The id of the token, which equals the id of its foundry.',
    }),
    ...exposed(t, 'UInt256', {
      sent: 'The number of tokens in the inputs that the address owned.',
      received: 'The number of tokens in the outputs that the address owns after it.',
    }),
  }),
})

const AddressChangeType = builder.objectRef<AddressChange>('AddressChange').implement({
  description:
    'The amounts that an address sent and received in a transaction. Its balance changed by the difference.',
  fields: (t) => ({
    address: addressField(
      t,
      'The address that owns inputs or outputs at the end of the slot of the transaction.',
      ({ address }) => address,
    ),
    ...exposed(t, 'UInt64', {
      sent: 'The number of base tokens in the inputs that the address owned.',
      received: 'The number of base tokens in the outputs that the address owns after it.',
    }),
    ...exposed(t, [TokenChange], {
      tokens:
        'The changes of each native token in those inputs and outputs, in the order of the inputs and then of the outputs.',
    }),
  }),
})

/** Price of the updates: up to 256 outputs are read, and the positions of some rows of each. */
function updatesCost(args: Parameters<typeof listCost>[0]) {
  const { field, multiplier } = listCost(args)
  return { field: field + 2 * itemsCost(2 * maxPerTransaction).field, multiplier }
}

/** Price of the changes: all inputs and outputs are read and decoded, and each may belong to another address. */
const changesCost = itemsCost(2 * maxPerTransaction)

builder.objectField(TransactionNode, 'updates', (t) =>
  t.field({
    type: LedgerUpdateConnection,
    nullable: true,
    description:
      'A list of the ledger updates of the transaction over all addresses, in the order of the log. Null if no milestone contains the transaction. Null with an error if the updates have been pruned or the inputs are not known.',
    complexity: updatesCost,
    args: listArgs,
    resolve: async (listed, page, context) => {
      const { state, slot } = listed
      if (!isBooked(state)) return null
      const [view, milestone] = await Promise.all([
        withContent(context, listed),
        milestoneInBatch(context, slot),
      ])
      if (milestone === undefined) {
        const { slot: newest } = await context.services.store.read.latestMilestone()
        // A ledger that began with a snapshot has no milestones of most earlier slots.
        return slot > newest ? null : orThrow(err({ code: 'UPDATES_NOT_KEPT', slot }))
      }
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
      'The balance changes of the transaction by address: first addresses that sent, in the order of the inputs, then addresses that only received, in the order of the outputs. Empty if the transaction is pending or failed. Null with an error if the inputs are not known.',
    complexity: changesCost,
    resolve: async (listed, _args, context) => {
      if (!isBooked(listed.state)) return []
      const { changeCache } = context.services
      const cached = changeCache.get(listed)
      if (cached !== undefined) return [...cached]
      const view = await withContent(context, listed)
      const { payload, inputIds, outputIds } = view
      // The payload has the created outputs, except for the genesis, which has no payload.
      const [inputs, outputs] = await Promise.all([
        outputsInBatch(context, inputIds),
        payload?.transaction.outputs ?? contentsOf(outputsInBatch(context, outputIds)),
      ])
      const moved = { inputs: inputs.map(({ output }) => output()), outputs }
      const changes = orThrow(changesOf(context.services, view, moved))
      changeCache.set(view, changes)
      return [...changes]
    },
  }),
)

async function contentsOf(views: Promise<readonly OutputView[]>): Promise<readonly Output[]> {
  return (await views).map(({ output }) => output())
}

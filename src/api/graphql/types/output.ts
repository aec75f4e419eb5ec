import { bytesToHex } from '../../../lib/hex.ts'
import { creationSlotOf, indexOf, transactionOf } from '../../../protocol/ids.ts'
import { headOfOutput } from '../../../protocol/outputs.ts'
import { slotEnd } from '../../../protocol/slots.ts'
import { readOwner } from '../../../service/outputs/output-owner.ts'
import { outputProvenance } from '../../../service/outputs/output-provenance.ts'
import type { OutputView } from '../../../service/outputs/read-output.ts'
import { orThrow } from '../../errors/errors.ts'
import { builder } from '../builder.ts'
import { exposed, exposedOrNull } from '../declare.ts'
import { computes, fieldCost, free, reads } from '../execution/prices.ts'
import { idArgs } from '../id-args.ts'
import { byProtocolId } from '../load-node.ts'
import { sharedByResponse } from '../loader.ts'
import { outputInBatch } from '../loaders.ts'
import { OutputContent, OutputIdProofType } from '../model/model.ts'
import { AddressNode, viewOfAddress } from './address-node.ts'
import { OutputKind } from './output-kind.ts'
import { proofInBatch } from './proof-batch.ts'

/** Reads the newest committed slot. */
const newestSlot = sharedByResponse(
  async ({ services }) => (await services.store.read.logTip()).slot,
)

export const OutputNode = builder.nodeRef<OutputView>('Output', {
  id: { resolve: ({ outputId }) => outputId },
  loadOne: byProtocolId(38, outputInBatch),
})

OutputNode.implement({
  description: 'An output of the ledger, with its owner and its spending.',
  fields: (t) => ({
    ...exposed(t, 'OutputId', { outputId: 'The id of the output.' }),
    transactionId: t.field({
      type: 'TransactionId',
      description: 'The id of the transaction that created the output.',
      resolve: ({ outputId }) => transactionOf(outputId),
    }),
    index: t.field({
      type: 'UInt32',
      description: 'The index of the output in its transaction, from 0 to 127.',
      resolve: ({ outputId }) => indexOf(outputId),
    }),
    blockId: t.field({
      type: 'BlockId',
      nullable: true,
      description:
        'The id of the block that carried the transaction. An output of the genesis, which no block carries, has the id of the genesis block: zeros and the genesis slot. Null with an error if an upstream node does not provide it.',
      resolve: (view, _args, { services }) =>
        view.blockId ?? outputProvenance(services, view).then((found) => orThrow(found).blockId),
    }),
    content: t.field({
      complexity: computes(1),
      type: OutputContent,
      description: 'The content of the output.',
      resolve: (view) => view.output(),
    }),
    bytes: t.field({
      type: 'Hex',
      description: 'The serialized output.',
      complexity: fieldCost.bytes,
      resolve: (view) => bytesToHex(view.bytes),
    }),
  }),
})

builder.objectFields(OutputNode, (t) => ({
  creationSlot: t.field({
    type: 'UInt32',
    description:
      'The index of the creation slot of the transaction. The output generates mana from this slot on.',
    resolve: ({ outputId }) => creationSlotOf(outputId),
  }),
  ...exposed(t, 'UInt32', {
    bookedSlot: 'The index of the slot in which the ledger booked the output.',
  }),
  bookedAt: t.field({
    type: 'DateTime',
    description: 'The end of the slot in which the ledger booked the output.',
    resolve: ({ bookedSlot }, _args, { services }) =>
      slotEnd(services.parameters, bookedSlot) * 1_000,
  }),
  isSpent: t.boolean({
    description: 'Whether the output is spent.',
    resolve: ({ spentSlot }) => spentSlot !== undefined,
  }),
  ...exposedOrNull(t, 'UInt32', {
    spentSlot: 'The index of the slot in which the output was spent. Null if it is unspent.',
  }),
  spentAt: t.field({
    type: 'DateTime',
    nullable: true,
    description: 'The end of the slot in which the output was spent. Null if it is unspent.',
    resolve: ({ spentSlot }, _args, { services }) =>
      spentSlot === undefined ? null : slotEnd(services.parameters, spentSlot) * 1_000,
  }),
}))

builder.objectFields(OutputNode, (t) => ({
  kind: t.field({
    type: OutputKind,
    description: 'The kind of the output.',
    resolve: ({ bytes }) => headOfOutput(bytes).type,
  }),
  amount: t.field({
    type: 'UInt64',
    description: 'The number of base tokens of the output, in the smallest unit.',
    resolve: ({ bytes }) => headOfOutput(bytes).amount,
  }),
  mana: t.field({
    type: 'UInt64',
    nullable: true,
    description:
      'The stored mana as written in the output, before decay. Null for foundries and delegations, which store none.',
    resolve: (view) => {
      const output = view.output()
      return 'mana' in output ? output.mana : null
    },
  }),
  owner: t.field({
    complexity: free,
    type: AddressNode,
    description:
      'The address that owns the output as of the newest milestone, or as of its booking if no milestone contains it yet, or that owned it when it was spent. The owner of a foundry is its account.',
    resolve: async (view, _args, context) =>
      viewOfAddress(await readOwner(context.services, view, () => newestSlot(context))),
  }),
  spentBy: t.field({
    type: 'TransactionId',
    nullable: true,
    description:
      'The id of the transaction that spent the output. Null if it is unspent. Null with an error if an upstream node does not provide it.',
    resolve: (view, _args, { services }) => {
      if (view.spentSlot === undefined) return null
      return (
        view.spentBy ?? outputProvenance(services, view).then((found) => orThrow(found).spentBy)
      )
    },
  }),
  proof: t.field({
    type: OutputIdProofType,
    nullable: true,
    description:
      'A proof that the output belongs to its transaction. Null with an error if an upstream node does not provide it.',
    complexity: fieldCost.proof,
    resolve: async (view, _args, context) => orThrow(await proofInBatch(context, view)),
  }),
}))

builder.queryField('output', (t) =>
  t.field({
    complexity: reads(1),
    type: OutputNode,
    nullable: true,
    description: 'The output with the given id, spent or unspent. Null if it is not known.',
    args: idArgs('OutputId', 'output'),
    resolve: (_root, { id }, context) => outputInBatch(context, id),
  }),
)

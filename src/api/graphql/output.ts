import { bytesToHex } from '../../lib/hex.ts'
import { creationSlotOf, indexOf, transactionOf } from '../../protocol/ids.ts'
import { headOfOutput } from '../../protocol/outputs.ts'
import { slotEnd } from '../../protocol/slots.ts'
import { outputLife } from '../../service/outputs/output-life.ts'
import { readOwner } from '../../service/outputs/output-owner.ts'
import type { OutputView } from '../../service/outputs/read-output.ts'
import { orThrow } from '../errors.ts'
import { AddressNode, viewOfAddress } from './address-node.ts'
import { builder } from './builder.ts'
import { byProtocolId } from './load-node.ts'
import { outputInBatch } from './loaders.ts'
import { OutputContent, OutputIdProofType } from './model.ts'
import { newestSlot } from './newest-slot.ts'
import { OutputKind } from './output-kind.ts'
import { computes, fieldCost, free, reads } from './prices.ts'
import { proofInBatch } from './proof-batch.ts'

/** An output, and whether and how it is spent. */
export const OutputNode = builder.nodeRef<OutputView>('Output', {
  id: { resolve: ({ outputId }) => outputId },
  loadOne: byProtocolId(38, outputInBatch),
})

OutputNode.implement({
  description: 'An output, and whether and how it is spent.',
  fields: (t) => ({
    outputId: t.expose('outputId', {
      type: 'OutputId',
      description: 'The id of the output.',
    }),
    transactionId: t.field({
      type: 'TransactionId',
      description: 'The transaction that created it.',
      resolve: ({ outputId }) => transactionOf(outputId),
    }),
    index: t.field({
      type: 'UInt32',
      description: 'Its index among the outputs of that transaction, 0 to 127.',
      resolve: ({ outputId }) => indexOf(outputId),
    }),
    blockId: t.field({
      type: 'BlockId',
      nullable: true,
      description:
        'The block that carried that transaction; null, with an error, where an upstream node does not give it.',
      resolve: async (view, _args, { services }) =>
        orThrow(await outputLife(services, view)).blockId,
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
    description: 'The slot from which it counts its mana: the creation slot of its transaction.',
    resolve: ({ outputId }) => creationSlotOf(outputId),
  }),
  bookedSlot: t.expose('bookedSlot', {
    type: 'UInt32',
    description: 'The slot in which the ledger booked it.',
  }),
  bookedAt: t.field({
    type: 'DateTime',
    description: 'The end of that slot.',
    resolve: ({ bookedSlot }, _args, { services }) =>
      slotEnd(services.parameters, bookedSlot) * 1_000,
  }),
  isSpent: t.boolean({
    description: 'Whether it is spent.',
    resolve: ({ spentSlot }) => spentSlot !== undefined,
  }),
  spentSlot: t.expose('spentSlot', {
    type: 'UInt32',
    nullable: true,
    description: 'The slot in which it was spent.',
  }),
  spentAt: t.field({
    type: 'DateTime',
    nullable: true,
    description: 'The end of that slot.',
    resolve: ({ spentSlot }, _args, { services }) =>
      spentSlot === undefined ? null : slotEnd(services.parameters, spentSlot) * 1_000,
  }),
  kind: t.field({
    type: OutputKind,
    description: 'Which of the six kinds of outputs it is.',
    resolve: ({ bytes }) => headOfOutput(bytes).type,
  }),
  amount: t.field({
    type: 'UInt64',
    description: 'Its base tokens.',
    resolve: ({ bytes }) => headOfOutput(bytes).amount,
  }),
  mana: t.field({
    type: 'UInt64',
    nullable: true,
    description:
      'The stored mana that was written into it, not decayed; null of a kind that stores none (foundries, delegations).',
    resolve: (view) => {
      const output = view.output()
      return 'mana' in output ? output.mana : null
    },
  }),
  owner: t.field({
    complexity: free,
    type: AddressNode,
    description:
      'The address that may spend it as of the newest milestone, or that could when it was spent; of a foundry its account.',
    resolve: async (view, _args, context) =>
      viewOfAddress(await readOwner(context.services, view, () => newestSlot(context))),
  }),
  spentBy: t.field({
    type: 'TransactionId',
    nullable: true,
    description:
      'The transaction that spent it; null, with an error, where an upstream node does not give it.',
    resolve: async (view, _args, { services }) =>
      view.spentSlot === undefined ? null : orThrow(await outputLife(services, view)).spentBy,
  }),
  proof: t.field({
    type: OutputIdProofType,
    description: 'Proves that the output belongs to its transaction.',
    complexity: fieldCost.proof,
    resolve: async (view, _args, context) => orThrow(await proofInBatch(context, view)),
  }),
}))

builder.queryField('output', (t) =>
  t.field({
    complexity: reads(1),
    type: OutputNode,
    nullable: true,
    description: 'An output that exists or existed; null when it is not known.',
    args: { id: t.arg({ type: 'OutputId', required: true, description: 'Its id.' }) },
    resolve: (_root, { id }, context) => outputInBatch(context, id),
  }),
)

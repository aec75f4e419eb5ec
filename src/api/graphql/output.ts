import { bytesToHex } from '../../lib/hex.ts'
import { creationSlotOf, indexOf, transactionOf } from '../../protocol/ids.ts'
import { outputLife } from '../../service/outputs/output-life.ts'
import { type OutputView, readOutput } from '../../service/outputs/read-output.ts'
import { orThrow } from '../errors.ts'
import { builder } from './builder.ts'
import { fieldCost } from './cost.ts'
import { OutputIdProofType, OutputType } from './model.ts'
import { proofInBatch } from './proof-batch.ts'

/** An output, and whether and how it is spent. */
export const LedgerOutputType = builder.objectRef<OutputView>('LedgerOutput').implement({
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
    output: t.field({
      type: OutputType,
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

builder.objectFields(LedgerOutputType, (t) => ({
  creationSlot: t.field({
    type: 'UInt32',
    description: 'The slot from which it counts its mana: the creation slot of its transaction.',
    resolve: ({ outputId }) => creationSlotOf(outputId),
  }),
  bookedSlot: t.expose('bookedSlot', {
    type: 'UInt32',
    description: 'The slot in which the ledger booked it.',
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
    type: LedgerOutputType,
    nullable: true,
    description: 'An output that exists or existed; null when it is not known.',
    args: { id: t.arg({ type: 'OutputId', required: true }) },
    resolve: (_root, { id }, { services }) => readOutput(services, id),
  }),
)

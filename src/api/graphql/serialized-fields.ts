import { Address } from '../../protocol/addresses.ts'
import { Block } from '../../protocol/block.ts'
import { Output } from '../../protocol/outputs.ts'
import { fieldsOf, type SerializedField } from '../../protocol/schema/fields.ts'
import { encode, type Schema } from '../../protocol/schema/schema.ts'
import { SignedTransaction } from '../../protocol/transaction.ts'
import { BlockNode } from './block.ts'
import { builder, type GatewayContext } from './builder.ts'
import { uint32s } from './exposed.ts'
import { AddressInspection, OutputInspection } from './inspect.ts'
import { BlockInspection, TransactionInspection } from './inspect-block.ts'
import { withContent } from './loaders.ts'
import { OutputNode } from './output.ts'
import { fieldCost, placedFieldCost } from './prices.ts'
import { TransactionNode } from './transaction.ts'

/** Where the fields of what is serialized stand in its bytes. */

const SerializedFieldType = builder.objectRef<SerializedField>('SerializedField').implement({
  description:
    'A field with its place in the bytes: a leaf with its value, or what is made of the fields that follow.',
  fields: (t) => ({
    path: t.exposeString('path', {
      description:
        'The way from the whole inwards, as errors have it, such as body.payload.transaction; empty for the whole.',
    }),
    type: t.exposeString('type', {
      description: 'The name of its type; a list has that of its elements in brackets.',
    }),
    about: t.string({
      nullable: true,
      description: 'What it means at its place, with unit and range; null where its name says it.',
      resolve: ({ about }) => about,
    }),
    ...uint32s(t, {
      offset: 'The place of its first byte, 0 to 32767.',
      length: 'How many bytes it takes, 1 to 32768; of a list or text with the count in front.',
    }),
    value: t.string({
      nullable: true,
      description:
        'Of a leaf its value in decimal digits, hexadecimal bytes or text; null for what is made of other fields.',
      resolve: ({ value }) => value,
    }),
  }),
})

/** The fields, paid for by their number: a block may have some thousand, and the estimate knows no bytes. */
function countedFields(
  { budget }: Pick<GatewayContext, 'budget'>,
  schema: Schema<unknown>,
  bytes: Uint8Array,
): SerializedField[] {
  const fields = [...fieldsOf(schema, bytes)]
  budget.compute(fields.length * placedFieldCost)
  return fields
}

const description =
  'Every field with its place in the bytes, each before those it is made of. The leaves cover all bytes.'

builder.objectField(BlockNode, 'fields', (t) =>
  t.field({
    type: [SerializedFieldType],
    description,
    complexity: fieldCost.blockFields,
    resolve: ({ bytes }, _args, context) => countedFields(context, Block, bytes),
  }),
)

builder.objectField(TransactionNode, 'fields', (t) =>
  t.field({
    type: [SerializedFieldType],
    nullable: true,
    complexity: fieldCost.blockFields,
    description: 'The same of `bytes`; null for that of the genesis.',
    resolve: async (listed, _args, context) => {
      const { payload } = await withContent(context, listed)
      return (
        payload && countedFields(context, SignedTransaction, encode(SignedTransaction, payload))
      )
    },
  }),
)

builder.objectField(OutputNode, 'fields', (t) =>
  t.field({
    type: [SerializedFieldType],
    description,
    complexity: fieldCost.outputFields,
    resolve: ({ bytes }, _args, context) => countedFields(context, Output, bytes),
  }),
)

builder.objectField(BlockInspection, 'fields', (t) =>
  t.field({
    type: [SerializedFieldType],
    description,
    complexity: fieldCost.blockFields,
    resolve: ({ bytes }, _args, context) => countedFields(context, Block, bytes),
  }),
)

builder.objectField(TransactionInspection, 'fields', (t) =>
  t.field({
    type: [SerializedFieldType],
    description,
    complexity: fieldCost.blockFields,
    resolve: ({ payload }, _args, context) =>
      countedFields(context, SignedTransaction, encode(SignedTransaction, payload)),
  }),
)

builder.objectField(OutputInspection, 'fields', (t) =>
  t.field({
    type: [SerializedFieldType],
    description,
    complexity: fieldCost.outputFields,
    resolve: ({ bytes }, _args, context) => countedFields(context, Output, bytes),
  }),
)

builder.objectField(AddressInspection, 'fields', (t) =>
  t.field({
    type: [SerializedFieldType],
    complexity: fieldCost.outputFields,
    description:
      'The same of an address; none of a multi address that is known by its reference alone.',
    resolve: ({ address }, _args, context) =>
      address === undefined ? [] : countedFields(context, Address, encode(Address, address)),
  }),
)

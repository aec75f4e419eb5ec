import { Address } from '../../../protocol/addresses.ts'
import { Block } from '../../../protocol/block.ts'
import { Output } from '../../../protocol/outputs.ts'
import { fieldsOf, type SerializedField } from '../../../protocol/schema/fields.ts'
import { encode, type Schema } from '../../../protocol/schema/schema.ts'
import { SignedTransaction } from '../../../protocol/transaction.ts'
import { builder, type GatewayContext } from '../builder.ts'
import { exposed, exposedOrNull } from '../declare.ts'
import { fieldCost, placedFieldCost } from '../execution/prices.ts'
import { withContent } from '../loaders.ts'
import { BlockNode } from '../types/block.ts'
import { AddressInspection, OutputInspection } from '../types/inspect.ts'
import { BlockInspection, TransactionInspection } from '../types/inspect-block.ts'
import { OutputNode } from '../types/output.ts'
import { TransactionNode } from '../types/transaction.ts'

/** The fields of serialized objects, with their offsets in the bytes. */

const SerializedFieldType = builder.objectRef<SerializedField>('SerializedField').implement({
  description:
    'A field of a serialized object, with its offset in the bytes. A field is a leaf with a value, or contains the fields that follow it.',
  fields: (t) => ({
    ...exposed(t, 'String', {
      path: 'The path of the field from the object, such as body.payload.transaction, in the format that errors use. Empty for the object itself.',
      type: 'The name of the type of the field. A list has the name of its element type in brackets.',
    }),
    ...exposedOrNull(t, 'String', {
      about: 'The meaning of the field, with its unit and range. Null if the name is sufficient.',
      value:
        'The value of a leaf, as decimal digits, hexadecimal bytes or text. Null for a field that contains other fields.',
    }),
    ...exposed(t, 'UInt32', {
      offset: 'The offset of the first byte, from 0 to 32767.',
      length:
        'The length in bytes, from 1 to 32768. The length of a list or text includes its length prefix.',
    }),
  }),
})

/** Returns the fields and charges their number: a block may have some thousand, which the cost estimate cannot know. */
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
  'The fields of the serialized object with their offsets. A field comes before the fields that it contains. The leaves cover all bytes.'

for (const node of [BlockNode, BlockInspection]) {
  builder.objectField(node, 'fields', (t) =>
    t.field({
      type: [SerializedFieldType],
      description,
      complexity: fieldCost.blockFields,
      resolve: ({ bytes }, _args, context) => countedFields(context, Block, bytes),
    }),
  )
}

for (const node of [OutputNode, OutputInspection]) {
  builder.objectField(node, 'fields', (t) =>
    t.field({
      type: [SerializedFieldType],
      description,
      complexity: fieldCost.outputFields,
      resolve: ({ bytes }, _args, context) => countedFields(context, Output, bytes),
    }),
  )
}

builder.objectField(TransactionNode, 'fields', (t) =>
  t.field({
    type: [SerializedFieldType],
    nullable: true,
    complexity: fieldCost.blockFields,
    description: `${description} The object is the one in bytes. Null for the transaction of the genesis.`,
    resolve: async (listed, _args, context) => {
      const { payload } = await withContent(context, listed)
      return (
        payload && countedFields(context, SignedTransaction, encode(SignedTransaction, payload))
      )
    },
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

builder.objectField(AddressInspection, 'fields', (t) =>
  t.field({
    type: [SerializedFieldType],
    complexity: fieldCost.outputFields,
    description:
      'The fields of the serialized address with their offsets. Empty for a multi address of which only the reference is known.',
    resolve: ({ address }, _args, context) =>
      address === undefined ? [] : countedFields(context, Address, encode(Address, address)),
  }),
)

import type { ResponseLeaf } from '../../../protocol/schema/response-scalars.ts'
import type { BytesSchema, UintSchema } from '../../../protocol/schema/scalars.ts'
import type { Schema } from '../../../protocol/schema/schema.ts'
import {
  type AnyStruct,
  collectTypes,
  nodeOf,
  type ProtocolTypes,
  type SchemaNode,
} from '../../graphql/model/protocol-types.ts'
import { memberSentence, typeSentence } from '../../graphql/model/schema-sentences.ts'
import { flag, named, type Shape, text, uint64 } from '../form.ts'

/** Converts protocol types to JSON Schema: object types and identifiers as named components, everything else inline. */

/** Returns the JSON Schema of a protocol type where it is used. */
export function shapeOf(schema: Schema<unknown>): Shape {
  const node = anyNodeOf(schema)
  switch (node.kind) {
    case 'flag':
      return flag.shape
    case 'word':
      return { type: 'string', enum: node.words }
    case 'rate':
      return { type: 'string', pattern: '^[0-9]+(\\.[0-9]+)?$' }
    case 'int':
      return { type: 'string', pattern: '^-?[0-9]{1,19}$' }
    case 'uint':
      return uintShape(node)
    case 'bytes':
      return isIdentifier(node) ? named(node.name) : bytesShape(node)
    case 'text':
      return text.shape
    case 'list':
      return {
        type: 'array',
        items: shapeOf(nodeOf(node.of)),
        minItems: node.min,
        maxItems: node.max,
      }
    case 'struct':
      return named(node.name)
    case 'union':
      return { oneOf: node.variants.map(({ name }) => named(name)) }
    case 'optional':
      return shapeOf(nodeOf(node.of))
    case 'map':
      return {
        type: 'object',
        minProperties: 1,
        maxProperties: 255,
        propertyNames: { pattern: '^[!-~]{1,255}$' },
        additionalProperties: hexShape,
      }
  }
}

/** Returns the components of all object types and identifiers that the roots contain, by name. */
export function componentsOf(roots: readonly AnyStruct[]): Readonly<Record<string, Shape>> {
  const types = collectTypes(roots)
  const shapes: Record<string, Shape> = {}
  for (const [name, struct] of types.structs) shapes[name] = structShape(struct, types)
  return { ...shapes, ...Object.fromEntries(identifiersIn(types)) }
}

/** Widens the type of a node: responses have kinds of leaves that blocks do not have. */
function anyNodeOf(schema: Schema<unknown>): SchemaNode | ResponseLeaf {
  return nodeOf(schema)
}

function structShape(struct: AnyStruct, types: ProtocolTypes): Shape {
  const members = Object.entries(struct.fields)
  const properties = members.map(([name, schema]) => [
    name,
    { ...shapeOf(schema), description: memberSentence(schema, types) },
  ])
  const required = members.filter(([, { mayBeAbsent }]) => mayBeAbsent !== true)
  const type = struct.code === undefined ? {} : { type: { const: struct.code } }
  return {
    type: 'object',
    description: typeSentence(struct),
    properties: { ...type, ...Object.fromEntries(properties) },
    required: [...Object.keys(type), ...required.map(([name]) => name)],
  }
}

function* identifiersIn(types: ProtocolTypes): Generator<readonly [string, Shape]> {
  for (const struct of types.structs.values()) {
    for (const field of Object.values(struct.fields)) {
      const leaf = leafOf(nodeOf(field))
      if (leaf.kind === 'bytes' && isIdentifier(leaf)) yield [leaf.name, identifierShape(leaf)]
    }
  }
}

function leafOf(node: SchemaNode): SchemaNode {
  return node.kind === 'list' || node.kind === 'optional' ? leafOf(nodeOf(node.of)) : node
}

/** Returns the component of an identifier. */
function identifierShape(schema: BytesSchema<`0x${string}`>): Shape {
  return { ...bytesShape(schema), ...(schema.about !== undefined && { description: schema.about }) }
}

function isIdentifier({ name }: BytesSchema<`0x${string}`>): boolean {
  return name.endsWith('Id')
}

function uintShape({ bits }: UintSchema<unknown>): Shape {
  if (bits === 64) return uint64.shape
  if (bits === 256) return { type: 'string', pattern: '^0x(0|[1-9a-f][0-9a-f]{0,63})$' }
  return { type: 'integer', minimum: 0, maximum: 2 ** bits - 1 }
}

/** Hexadecimal text; requests may use upper-case digits, responses use lower-case digits only. */
const hexShape: Shape = { type: 'string', pattern: '^0x([0-9a-fA-F]{2})*$' }

function bytesShape({ min, max }: BytesSchema<`0x${string}`>): Shape {
  if (min === max) return { type: 'string', pattern: `^0x[0-9a-fA-F]{${2 * max}}$` }
  return { ...hexShape, minLength: 2 + 2 * min, maxLength: 2 + 2 * max }
}

import type { StructSchema, UnionSchema } from '../../protocol/schema/composites.ts'
import type { Schema } from '../../protocol/schema/schema.ts'
import { builder } from './builder.ts'
import { fieldCost } from './cost.ts'
import { type AnyStruct, nodeOf, type ProtocolTypes, type SchemaNode } from './protocol-types.ts'
import type { ScalarTypes } from './scalar-types.ts'
import { familySentence, memberSentence, typeSentence } from './schema-sentences.ts'

/**
 * Folds protocol types into GraphQL: an object type for each struct, a union for each family. A decoded value is
 * what their resolvers are given, so nothing is copied.
 */

/** The object types of the protocol, to be used by fields of other types. */
export interface ObjectTypes {
  /** The type of a struct that was folded. */
  struct<T>(schema: StructSchema<T>): ObjectRef<T>
  /** The type of a family that was folded. */
  family<T>(schema: UnionSchema<T>): UnionRef<T>
}

type ObjectRef<T> = ReturnType<typeof builder.objectRef<T>>
type UnionRef<T> = PothosSchemaTypes.UnionRef<typeof builder.$inferSchemaTypes, T, T>

/** Declares the types; once in the life of the builder. */
export function declareObjects(types: ProtocolTypes): ObjectTypes {
  const structs = new Map<string, ObjectRef<any>>()
  const unions = new Map<string, any>()
  // All names first, for types contain each other.
  for (const name of types.structs.keys()) structs.set(name, builder.objectRef<any>(name))
  for (const [name, variants] of types.families) unions.set(name, declareUnion(name, variants))
  for (const [name, struct] of types.structs) {
    structs.get(name)?.implement({
      description: typeSentence(struct),
      fields: (t: any) => ({ ...codeField(struct, t), ...memberFields(struct, t) }),
    } as any)
  }

  function declareUnion(name: string, variants: readonly AnyStruct[]): any {
    const nameByCode = new Map(variants.map((variant) => [variant.code, variant.name]))
    return builder.unionType(name, {
      description: familySentence(variants),
      types: variants.map((variant) => structs.get(variant.name)) as any,
      resolveType: (value: any) => nameByCode.get(value.type) as any,
    })
  }

  function memberFields(struct: AnyStruct, t: any): any {
    const fields = Object.entries(struct.fields).map(([member, schema]) => {
      const node = nodeOf(schema)
      const price = isLong(node) && { complexity: fieldCost.bytes }
      const description = memberSentence(schema, types)
      const nullable = schema.kind === 'optional'
      const resolve = (parent: any) => parent[member]
      return [member, t.field({ type: typeOf(node), nullable, description, resolve, ...price })]
    })
    return Object.fromEntries(fields)
  }

  function typeOf(node: SchemaNode): any {
    switch (node.kind) {
      case 'uint':
      case 'bytes':
      case 'text':
        return scalarOf(node)
      case 'list':
        return [typeOf(nodeOf(node.of))]
      case 'optional':
        return typeOf(nodeOf(node.of))
      case 'struct':
        return structs.get(node.name)
      case 'union':
        return unions.get(node.name)
      case 'map':
        return [MetadataEntry]
    }
  }

  return {
    struct: (schema) => structs.get(schema.name) as any,
    family: (schema) => unions.get(schema.name),
  }
}

/** The scalar of a leaf: the width of a number, the kind of an identifier, `Hex` for all other bytes. */
export function scalarOf(
  leaf: Extract<SchemaNode, { kind: 'uint' | 'bytes' | 'text' }>,
): keyof ScalarTypes | 'String' {
  if (leaf.kind === 'text') return 'String'
  if (leaf.kind === 'uint') {
    return leaf.bits === 256 ? 'UInt256' : leaf.bits === 64 ? 'UInt64' : 'UInt32'
  }
  // An identifier without a scalar of its own does not build.
  return leaf.name.endsWith('Id') ? (leaf.name as keyof ScalarTypes) : 'Hex'
}

/** Whether a leaf may be far longer than its name. */
function isLong(node: SchemaNode): boolean {
  return node.kind === 'bytes' && node.max >= 1_024
}

/** Whether JSON may leave a member out, so that an input may as well. */
export function isOptional(schema: Schema<unknown>): boolean {
  return schema.mayBeAbsent === true
}

/** The code of a variant, beside `__typename` which says the same in words. */
function codeField(struct: AnyStruct, t: any): any {
  if (struct.code === undefined) return {}
  return {
    type: t.int({ description: `Type code: ${struct.code}.`, resolve: () => struct.code }),
  }
}

const MetadataEntry = builder
  .objectRef<{ readonly key: string; readonly value: `0x${string}` }>('MetadataEntry')
  .implement({
    description: 'An entry of a metadata map. The entries of a map are sorted by key.',
    fields: (t) => ({
      key: t.exposeString('key', {
        description: '1 to 255 characters of printable ASCII, without space.',
      }),
      value: t.expose('value', {
        type: 'Hex',
        description: '0 to 65535 bytes.',
        complexity: fieldCost.bytes,
      }),
    }),
  })

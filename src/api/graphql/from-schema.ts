import type { StructSchema, UnionSchema } from '../../protocol/schema/composites.ts'
import type { Schema } from '../../protocol/schema/schema.ts'
import { builder } from './builder.ts'
import { fieldCost, free } from './prices.ts'
import { type AnyStruct, nodeOf, type ProtocolTypes, type SchemaNode } from './protocol-types.ts'
import type { ScalarTypes } from './scalar-types.ts'
import { commonSentence, familySentence, memberSentence, typeSentence } from './schema-sentences.ts'

/**
 * Folds protocol types into GraphQL: an object type for each struct, an interface for each family, with the members that all
 * of its kinds have. A decoded value is what their resolvers are given, so nothing is copied.
 */

/** The object types of the protocol, to be used by fields of other types. */
export interface ObjectTypes {
  /** The type of a struct that was folded. */
  struct<T>(schema: StructSchema<T>): ObjectRef<T>
  /** The type of a family that was folded. */
  family<T>(schema: UnionSchema<T>): InterfaceRef<T>
}

/** Where a member of a family is not given as the protocol has it, but as a type of the graph. */
export interface FamilyEdge {
  readonly type: unknown
  /** From the decoded value. */
  resolve(value: unknown): unknown
}

type ObjectRef<T> = ReturnType<typeof builder.objectRef<T>>
type InterfaceRef<T> = ReturnType<typeof builder.interfaceRef<T>>

/** Declares the types; once in the life of the builder. */
export function declareObjects(
  types: ProtocolTypes,
  edges: ReadonlyMap<string, FamilyEdge>,
): ObjectTypes {
  const structs = new Map<string, ObjectRef<any>>()
  const families = new Map<string, any>()
  // All names first, for types contain each other.
  for (const name of types.structs.keys()) structs.set(name, builder.objectRef<any>(nameOf(name)))
  for (const name of types.families.keys()) {
    families.set(name, builder.interfaceRef(nameOf(name)))
  }
  for (const [name, variants] of types.families) implementFamily(name, variants)
  for (const [name, struct] of types.structs) {
    structs.get(name)?.implement({
      description: typeSentence(struct),
      interfaces: familiesOf(struct).map((family) => families.get(family)),
      fields: (t: any) => ({ ...codeField(struct, t), ...memberFields(struct, t) }),
    } as any)
  }

  function implementFamily(name: string, variants: readonly AnyStruct[]): void {
    const nameByCode = new Map(variants.map((variant) => [variant.code, nameOf(variant.name)]))
    const common = commonMembers(variants)
    families.get(name)?.implement({
      description: familySentence(variants),
      resolveType: (value: any) => nameByCode.get(value.type) as any,
      fields: (t: any) => ({ ...familyCodeField(t), ...fieldsOf(common, commonSentence, t) }),
    })
  }

  function familiesOf(struct: AnyStruct): string[] {
    return [...types.families].flatMap(([name, kinds]) => (kinds.includes(struct) ? [name] : []))
  }

  function memberFields(struct: AnyStruct, t: any): any {
    return fieldsOf(Object.entries(struct.fields), (schema) => memberSentence(schema, types), t)
  }

  function fieldsOf(
    members: readonly (readonly [string, Schema<unknown>])[],
    sentenceOf: (schema: Schema<unknown>) => string,
    t: any,
  ): any {
    const fields = members.map(([member, schema]) => {
      const node = nodeOf(schema)
      const complexity = isLong(node) ? fieldCost.bytes : free
      const description = sentenceOf(schema)
      const nullable = schema.kind === 'optional'
      const resolve = resolverOf(member, node)
      return [member, t.field({ type: typeOf(node), nullable, description, complexity, resolve })]
    })
    return Object.fromEntries(fields)
  }

  function resolverOf(member: string, node: SchemaNode): (parent: any) => unknown {
    const edge = node.kind === 'union' ? edges.get(node.name) : undefined
    if (edge === undefined) return (parent) => parent[member]
    return (parent) => edge.resolve(parent[member])
  }

  function typeOf(node: SchemaNode): any {
    return foldType<any>(node, {
      scalar: (name) => name,
      list: (of) => [of],
      optional: (of) => of,
      named: (name) => structs.get(name) ?? edges.get(name)?.type ?? families.get(name),
      entry: MetadataEntry,
    })
  }

  return {
    struct: (schema) => structs.get(schema.name) as any,
    family: (schema) => families.get(schema.name),
  }
}

/** What the protocol writes inside a thing of the ledger, where both have one name in the protocol. */
const contents = new Set(['Address', 'Block', 'Output', 'Transaction'])

/** The GraphQL type of a protocol type. */
function nameOf(name: string): string {
  return contents.has(name) ? `${name}Content` : name
}

/** The members that all kinds of a family have under one name and of one type. */
function commonMembers(variants: readonly AnyStruct[]): [string, Schema<unknown>][] {
  const [first, ...others] = variants
  if (first === undefined) return []
  return Object.entries(first.fields).filter(([member, schema]) =>
    others.every(({ fields }) => {
      const same = fields[member]
      return same !== undefined && typeText(same) === typeText(schema)
    }),
  )
}

/** Two members of the same text have the same GraphQL type. */
function typeText(schema: Schema<unknown>): string {
  return foldType<string>(nodeOf(schema), {
    scalar: (name) => name,
    list: (of) => `[${of}]`,
    optional: (of) => `${of}?`,
    named: (name) => name,
    entry: '{}',
  })
}

/** What the parts of a member's type become. */
interface TypeParts<T> {
  scalar(name: ScalarName): T
  list(of: T): T
  optional(of: T): T
  /** Of a struct or a family. */
  named(name: string): T
  /** Of a map, which is a list of them. */
  readonly entry: T
}

/** The type of a member. */
export function foldType<T>(node: SchemaNode, parts: TypeParts<T>): T {
  switch (node.kind) {
    case 'uint':
    case 'bytes':
    case 'text':
      return parts.scalar(scalarOf(node))
    case 'list':
      return parts.list(foldType(nodeOf(node.of), parts))
    case 'optional':
      return parts.optional(foldType(nodeOf(node.of), parts))
    case 'struct':
    case 'union':
      return parts.named(node.name)
    case 'map':
      return parts.list(parts.entry)
  }
}

type ScalarName = keyof ScalarTypes | 'String'

/** The scalar of a leaf: the width of a number, the kind of an identifier, `Hex` for all other bytes. */
function scalarOf(leaf: Extract<SchemaNode, { kind: 'uint' | 'bytes' | 'text' }>): ScalarName {
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

function familyCodeField(t: any): any {
  return {
    type: t.int({ description: 'The type code.', resolve: ({ type }: any) => type }),
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

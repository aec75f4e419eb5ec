import { NativeToken } from '../../../protocol/features.ts'
import type { StructSchema, UnionSchema } from '../../../protocol/schema/composites.ts'
import type { Schema } from '../../../protocol/schema/schema.ts'
import { builder } from '../builder.ts'
import { exposed } from '../declare.ts'
import { fieldCost, free } from '../execution/prices.ts'
import type { ScalarTypes } from '../scalar-types.ts'
import { type AnyStruct, nodeOf, type ProtocolTypes, type SchemaNode } from './protocol-types.ts'
import { commonSentence, familySentence, memberSentence, typeSentence } from './schema-sentences.ts'

/**
 * Derives GraphQL types from protocol types: an object type for each struct, and for each family an interface with the members that all
 * of its kinds have. Resolvers receive decoded values, so nothing is copied.
 */

/** The object types of the protocol, for the fields of other types. */
export interface ObjectTypes {
  /** Returns the type of a struct. */
  struct<T>(schema: StructSchema<T>): ObjectRef<T>
  /** Returns the type of a family. */
  family<T>(schema: UnionSchema<T>): InterfaceRef<T>
}

/** A replacement for the members of a family: they have a type of the graph instead of the type of the protocol. */
export interface FamilyEdge {
  readonly type: unknown
  /** Converts the decoded value. */
  resolve(value: unknown): unknown
}

type ObjectRef<T> = ReturnType<typeof builder.objectRef<T>>
type InterfaceRef<T> = ReturnType<typeof builder.interfaceRef<T>>

/** Declares the types. It can be called once per builder. */
export function declareObjects(
  types: ProtocolTypes,
  edges: ReadonlyMap<string, FamilyEdge>,
): ObjectTypes {
  const structs = new Map<string, ObjectRef<any>>()
  const families = new Map<string, any>()
  // All names are declared first, because types refer to each other.
  for (const name of types.structs.keys())
    structs.set(name, builder.objectRef<any>(graphNameOf(name)))
  for (const name of types.families.keys()) {
    families.set(name, builder.interfaceRef(graphNameOf(name)))
  }
  const declared = { types, edges, structs, families }
  for (const [name, variants] of types.families) implementFamily(declared, name, variants)
  for (const [name, struct] of types.structs) implementStruct(declared, name, struct)
  return {
    struct: (schema) => structs.get(schema.name) as any,
    family: (schema) => families.get(schema.name),
  }
}

/** The declared types by name, and the types that they come from. */
interface Declared {
  readonly types: ProtocolTypes
  readonly edges: ReadonlyMap<string, FamilyEdge>
  readonly structs: ReadonlyMap<string, ObjectRef<any>>
  readonly families: ReadonlyMap<string, any>
}

function implementFamily(declared: Declared, name: string, variants: readonly AnyStruct[]): void {
  const nameByCode = new Map(variants.map((variant) => [variant.code, graphNameOf(variant.name)]))
  const common = commonMembers(variants)
  declared.families.get(name)?.implement({
    description: familySentence(variants),
    resolveType: (value: any) => nameByCode.get(value.type) as any,
    fields: (t: any) => ({
      ...familyCodeField(t),
      ...fieldsOf(declared, common, commonSentence, t),
    }),
  })
}

function implementStruct(declared: Declared, name: string, struct: AnyStruct): void {
  const { types, structs, families } = declared
  structs.get(name)?.implement({
    description: typeSentence(struct),
    interfaces: familiesOf(types, struct).map((family) => families.get(family)),
    fields: (t: any) => ({ ...codeField(struct, t), ...memberFields(declared, struct, t) }),
  } as any)
}

function familiesOf(types: ProtocolTypes, struct: AnyStruct): string[] {
  return [...types.families].flatMap(([name, kinds]) => (kinds.includes(struct) ? [name] : []))
}

function memberFields(declared: Declared, struct: AnyStruct, t: any): any {
  const members = Object.entries(struct.fields)
  const fields = fieldsOf(declared, members, (one) => memberSentence(one, declared.types), t)
  const named = members.map(([member]) => [fieldNameOf(struct, member), fields[member]])
  return Object.fromEntries(named)
}

function fieldsOf(
  declared: Declared,
  members: readonly (readonly [string, Schema<unknown>])[],
  sentenceOf: (schema: Schema<unknown>) => string,
  t: any,
): any {
  const fields = members.map(([member, schema]) => {
    const node = nodeOf(schema)
    const complexity = isLong(node) ? fieldCost.bytes : free
    const nullable = schema.kind === 'optional'
    const description = `${sentenceOf(schema)}${nullable ? ' Null if there is none.' : ''}`
    const resolve = resolverOf(declared, member, node)
    const type = typeOf(declared, node)
    return [member, t.field({ type, nullable, description, complexity, resolve })]
  })
  return Object.fromEntries(fields)
}

function resolverOf(
  { edges }: Declared,
  member: string,
  node: SchemaNode,
): (parent: any) => unknown {
  const edge = node.kind === 'union' ? edges.get(node.name) : undefined
  if (edge === undefined) return (parent) => parent[member]
  return (parent) => edge.resolve(parent[member])
}

function typeOf({ structs, edges, families }: Declared, node: SchemaNode): any {
  return foldType<any>(node, {
    scalar: (name) => name,
    list: (of) => [of],
    optional: (of) => of,
    named: (name) => structs.get(name) ?? edges.get(name)?.type ?? families.get(name),
    entry: MetadataEntry,
  })
}

/** Names that the protocol and the ledger share. The protocol type has the suffix `Content`. */
const contents = new Set(['Address', 'Block', 'Output', 'Transaction'])

/** Returns the name of the GraphQL type of a protocol type. */
export function graphNameOf(name: string): string {
  return contents.has(name) ? `${name}Content` : name
}

/**
 * Returns the field of a member. Caches of clients take a field `id` for the identity of its object, so the `id` of native tokens, the
 * only member of this name, has another name.
 */
export function fieldNameOf({ name }: Pick<AnyStruct, 'name'>, member: string): string {
  return name === NativeToken.name && member === 'id' ? 'tokenId' : member
}

/** Returns the members that all kinds of a family have with the same name and type. */
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

/** Returns a text that is equal for members of the same GraphQL type. */
function typeText(schema: Schema<unknown>): string {
  return foldType<string>(nodeOf(schema), {
    scalar: (name) => name,
    list: (of) => `[${of}]`,
    optional: (of) => `${of}?`,
    named: (name) => name,
    entry: '{}',
  })
}

/** Conversions of the parts of the type of a member. */
interface TypeParts<T> {
  scalar(name: ScalarName): T
  list(of: T): T
  optional(of: T): T
  /** Converts a struct or a family. */
  named(name: string): T
  /** The entry of a map. A map becomes a list of entries. */
  readonly entry: T
}

/** Converts the type of a member. */
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

/** Returns the scalar of a leaf: by width for a number, by kind for an identifier, `Hex` for other bytes. */
function scalarOf(leaf: Extract<SchemaNode, { kind: 'uint' | 'bytes' | 'text' }>): ScalarName {
  if (leaf.kind === 'text') return 'String'
  if (leaf.kind === 'uint') {
    return leaf.bits === 256 ? 'UInt256' : leaf.bits === 64 ? 'UInt64' : 'UInt32'
  }
  // The schema does not build if an identifier has no scalar.
  return leaf.name.endsWith('Id') ? (leaf.name as keyof ScalarTypes) : 'Hex'
}

/** Whether a leaf may be much longer than its name. */
function isLong(node: SchemaNode): boolean {
  return node.kind === 'bytes' && node.max >= 1_024
}

/** Whether a member may be absent in JSON, and so in an input. */
export function isOptional(schema: Schema<unknown>): boolean {
  return schema.mayBeAbsent === true
}

/** Returns the field for the type code of a variant. `__typename` has the same information as a name. */
function codeField(struct: AnyStruct, t: any): any {
  if (struct.code === undefined) return {}
  return {
    type: t.int({
      description: `The type code: ${struct.code}.`,
      resolve: () => struct.code,
    }),
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
      ...exposed(t, 'String', {
        key: 'The key: 1 to 255 characters of printable ASCII without spaces.',
      }),
      value: t.expose('value', {
        type: 'Hex',
        description: 'The value: 0 to 65535 bytes.',
        complexity: fieldCost.bytes,
      }),
    }),
  })

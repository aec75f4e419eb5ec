import { assert } from '../../../lib/assert.ts'
import type { Hex } from '../../../lib/hex.ts'
import type {
  ListSchema,
  OptionalSchema,
  StructSchema,
  UnionSchema,
} from '../../../protocol/schema/composites.ts'
import type { MapSchema } from '../../../protocol/schema/metadata-map.ts'
import type { BytesSchema, TextSchema, UintSchema } from '../../../protocol/schema/scalars.ts'
import type { Schema } from '../../../protocol/schema/schema.ts'

/** Collects the object types and families that the protocol declares. All conversions of protocol types start with this walk. */

/** A schema narrowed by its kind. */
export type SchemaNode =
  | UintSchema<unknown>
  | BytesSchema<Hex>
  | TextSchema
  | ListSchema<unknown>
  | StructSchema<unknown>
  | UnionSchema<unknown>
  | OptionalSchema<unknown>
  | MapSchema

/** An object type of any value. */
export type AnyStruct = StructSchema<unknown>

/** All types that a set of root types contains. */
export interface ProtocolTypes {
  /** Object types by name. */
  readonly structs: ReadonlyMap<string, AnyStruct>
  /** All variants of each family, ordered by code, by the name of the family. */
  readonly families: ReadonlyMap<string, readonly AnyStruct[]>
}

/** Narrows a schema. Every schema is created by a function of `protocol/schema`, and these are all of their kinds. */
export function nodeOf(schema: Schema<unknown>): SchemaNode {
  return schema as SchemaNode
}

/** Collects all types that the roots contain. */
export function collectTypes(roots: readonly AnyStruct[]): ProtocolTypes {
  const structs = new Map<string, AnyStruct>()
  const variants = new Map<string, Map<string, AnyStruct>>()
  const seen = new Set<Schema<unknown>>()

  function visit(schema: Schema<unknown>): void {
    if (seen.has(schema)) return
    seen.add(schema)
    const node = nodeOf(schema)
    if (node.kind === 'list' || node.kind === 'optional') visit(node.of)
    if (node.kind === 'struct') visitStruct(node)
    // At the maximum depth, the node of a proof is a union without variants.
    if (node.kind === 'union' && 'variants' in node) visitUnion(node)
  }

  function visitStruct(struct: AnyStruct): void {
    const former = structs.get(struct.name)
    assert(former === undefined || isSameType(former, struct), `one type ${struct.name}`)
    if (former === undefined) structs.set(struct.name, struct)
    for (const field of Object.values(struct.fields)) visit(field)
  }

  function visitUnion({ name, variants: choices }: UnionSchema<unknown>): void {
    const family = variants.get(name) ?? new Map<string, AnyStruct>()
    variants.set(name, family)
    for (const choice of choices) {
      if (!family.has(choice.name)) family.set(choice.name, choice)
      visit(choice)
    }
  }

  for (const root of roots) visit(root)
  const families = [...variants].map(([name, family]) => [name, sortByCode(family)] as const)
  return { structs, families: new Map(families) }
}

/** Whether two declarations are of one type. A nested type, such as the node of a proof, is declared once for each depth. */
function isSameType(a: AnyStruct, b: AnyStruct): boolean {
  const members = (struct: AnyStruct) => Object.keys(struct.fields).join()
  return a.code === b.code && a.about === b.about && members(a) === members(b)
}

function sortByCode(family: ReadonlyMap<string, AnyStruct>): readonly AnyStruct[] {
  return [...family.values()].toSorted((a, b) => (a.code ?? 0) - (b.code ?? 0))
}

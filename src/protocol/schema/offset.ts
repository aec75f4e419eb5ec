import type { ListSchema, OptionalSchema, StructSchema, UnionSchema } from './composites.ts'
import type { MapSchema } from './metadata-map.ts'
import { Reader } from './reader.ts'
import type { BytesSchema, TextSchema, UintSchema } from './scalars.ts'
import { isReadable, type Schema } from './schema.ts'

/** Computes the position of a part in the bytes of a value. Used only for errors and inspections. */

export type SchemaNode =
  | UintSchema<any>
  | BytesSchema<any>
  | TextSchema
  | ListSchema<any>
  | StructSchema<any>
  | UnionSchema<any>
  | OptionalSchema<any>
  | MapSchema

/** Narrows the type of a schema. All schemas are created in this folder, and have one of these kinds. */
export function nodeOf(schema: Schema<any>): SchemaNode {
  return schema as SchemaNode
}

/** The position of the part at `path`, in valid bytes. */
export function locate(schema: Schema<any>, bytes: Uint8Array, path: string): number {
  const numbering = isReadable(schema, bytes) ? 'released' : 'documented'
  return offsetOf(schema, new Reader(bytes, numbering), 0, path === '' ? [] : path.split('.'))
}

/**
 * The position of the part at `path`, in a value that begins at `start`. All bytes before the part must be valid. For a path
 * that does not exist, the result is the position of the innermost existing part.
 */
export function offsetOf(
  schema: Schema<any>,
  r: Reader,
  start: number,
  path: readonly (string | number)[],
): number {
  r.at = start
  const [key, ...rest] = path
  if (key === undefined) return start
  const inner = enter(nodeOf(schema), r, key)
  return inner === undefined ? start : offsetOf(inner.schema, r, r.at, inner.isStep ? rest : path)
}

/** Moves the reader to the part with `key`, or into a union or optional value, which uses no key of the path. */
function enter(
  node: SchemaNode,
  r: Reader,
  key: string | number,
): { readonly schema: Schema<any>; readonly isStep: boolean } | undefined {
  switch (node.kind) {
    case 'struct': {
      if (node.code !== undefined) r.u8()
      for (const [name, member] of Object.entries(node.fields)) {
        if (name === key) return { schema: member, isStep: true }
        member.read(r)
      }
      return undefined
    }
    case 'list': {
      const length = r[node.count]()
      const index = Number(key)
      if (!(index < length)) return undefined
      for (let i = 0; i < index; i++) node.of.read(r)
      return { schema: node.of, isStep: true }
    }
    case 'union': {
      const chosen = node.choose(r)
      return chosen && { schema: chosen, isStep: false }
    }
    case 'optional':
      r.u32()
      return { schema: node.of, isStep: false }
    case 'uint':
    case 'bytes':
    case 'text':
    case 'map':
      return undefined
  }
}

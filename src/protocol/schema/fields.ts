import { type MapSchema, sizeOfEntry } from './metadata-map.ts'
import { nodeOf } from './offset.ts'
import { Reader } from './reader.ts'
import { sizeOfWidth, type Width } from './scalars.ts'
import { isReadable, type Schema } from './schema.ts'

/** Lists all fields of a serialized value with their positions in the bytes. */

/** A field: a leaf with its value, or a composite, whose parts follow it in the list. */
export interface SerializedField {
  /** The path from the whole value, as in errors: `body.payload.transaction.outputs.1.amount`; empty for the whole value. */
  readonly path: string
  /** The name of the type; for a list, the type of its elements in brackets. */
  readonly type: string
  /** The meaning of the field, with unit and range. */
  readonly about: string | undefined
  /** Position of the first byte. */
  readonly offset: number
  /** Number of bytes, including a count or length prefix. */
  readonly length: number
  /** The value of a leaf: decimal digits, hexadecimal bytes, or text. */
  readonly value: string | undefined
}

/** The fields of valid bytes, each composite before its parts. The leaves cover all bytes. Linear in the number of bytes. */
export function fieldsOf(schema: Schema<any>, bytes: Uint8Array): readonly SerializedField[] {
  const numbering = isReadable(schema, bytes) ? 'released' : 'documented'
  const walk: Walk = { r: new Reader(bytes, numbering), fields: [] }
  visit(schema, '', walk)
  return walk.fields
}

interface Walk {
  readonly r: Reader
  readonly fields: OpenField[]
}

/** A field that is being read. */
type OpenField = { -readonly [K in keyof SerializedField]: SerializedField[K] }

function visit(schema: Schema<any>, path: string, walk: Walk): void {
  const field = open(path, nameOf(schema), walk)
  enter(schema, field, walk)
  close(field, walk)
}

function open(path: string, type: string, { r, fields }: Walk): OpenField {
  const field = { path, type, about: undefined, offset: r.at, length: 0, value: undefined }
  fields.push(field)
  return field
}

function close(field: OpenField, { r }: Walk): void {
  field.length = r.at - field.offset
}

/** Reads the content of a field. A union or an optional value is the same field as its content. */
function enter(schema: Schema<any>, field: OpenField, walk: Walk): void {
  const { r } = walk
  const node = nodeOf(schema)
  field.about ??= node.about
  switch (node.kind) {
    case 'uint':
    case 'bytes':
    case 'text':
      field.value = String(node.read(r))
      return
    case 'struct':
      field.type = node.name
      if (node.code !== undefined) number('type', 'u8', field, walk)
      for (const [name, member] of Object.entries(node.fields)) {
        visit(member, below(field, name), walk)
      }
      return
    case 'list': {
      const count = number('count', node.count, field, walk)
      for (let i = 0; i < count; i++) visit(node.of, below(field, i), walk)
      return
    }
    case 'union': {
      const chosen = node.choose(r)
      if (chosen !== undefined) enter(chosen, field, walk)
      return
    }
    case 'optional':
      if (number('length', 'u32', field, walk) > 0) enter(node.of, field, walk)
      return
    case 'map':
      enterMap(node, field, walk)
  }
}

/** Reads a map: each entry is one field, with key and value, and its path ends with the key. */
function enterMap(node: MapSchema, field: OpenField, walk: Walk): void {
  const { r } = walk
  const start = r.at
  const entries = node.read(r)
  r.at = start
  number('count', 'u8', field, walk)
  for (const entry of entries) {
    const one = open(below(field, entry.key), 'MetadataEntry', walk)
    one.value = entry.value
    r.take(sizeOfEntry(entry))
    close(one, walk)
  }
}

/** Reads a number that is not a member: a type code, a count or a length. */
function number(name: string, width: Width, parent: OpenField, walk: Walk): number {
  const field = open(below(parent, name), `UInt${8 * sizeOfWidth[width]}`, walk)
  const value = walk.r[width]()
  field.value = String(value)
  close(field, walk)
  return value
}

function below({ path }: OpenField, name: string | number): string {
  return path === '' ? `${name}` : `${path}.${name}`
}

function nameOf(schema: Schema<any>): string {
  const node = nodeOf(schema)
  if (node.kind === 'list') return `[${nameOf(node.of)}]`
  if (node.kind === 'map') return '[MetadataEntry]'
  return node.kind === 'optional' ? nameOf(node.of) : node.name
}

import { type MapSchema, sizeOfEntry } from './metadata-map.ts'
import { nodeOf } from './offset.ts'
import { Reader } from './reader.ts'
import { sizeOfWidth, type Width } from './scalars.ts'
import { isReadable, type Schema } from './schema.ts'

/** Every field of a serialized value with its place in the bytes. */

/** One field: a leaf with its value, or what is made of the fields that follow it. */
export interface SerializedField {
  /** The way from the whole, as of errors: `body.payload.transaction.outputs.1.amount`; empty for the whole. */
  readonly path: string
  /** The name of its type; a list has that of its elements in brackets. */
  readonly type: string
  /** What it means at its place, with unit and range. */
  readonly about: string | undefined
  /** The first byte. */
  readonly offset: number
  /** How many bytes it takes, with the count or length in front. */
  readonly length: number
  /** Of a leaf: decimal digits, hexadecimal bytes, or text. */
  readonly value: string | undefined
}

/** The fields of a value whose bytes decode, each before those it is made of. The leaves cover all bytes. Linear in the bytes. */
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

/** Reads what a field holds. A choice, and what may be absent, are one field with what stands there. */
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

/** Entries are fields by their keys, with key and value in one. */
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

/** A number that the protocol writes beside the members: a type, a count, a length. */
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

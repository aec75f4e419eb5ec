import fc from 'fast-check'
import { present } from '../../src/lib/assert.ts'
import { bytesToHex } from '../../src/lib/hex.ts'
import type { ListSchema, StructSchema } from '../../src/protocol/schema/composites.ts'
import type { MetadataEntry } from '../../src/protocol/schema/metadata-map.ts'
import { nodeOf, type SchemaNode } from '../../src/protocol/schema/offset.ts'
import type { Schema } from '../../src/protocol/schema/schema.ts'
import { repairs } from './arbitrary-repairs.ts'

/** Random values of protocol types, derived from their declarations. Every value survives encoding and decoding. */

/** Values of a schema that satisfy every limit, order and rule that the decoder checks. */
export function arbitraryOf<T>(schema: Schema<T>): fc.Arbitrary<T> {
  // `fold` returns values of the schema that it is given; TypeScript cannot express this.
  return fold(schema) as fc.Arbitrary<T>
}

const known = new WeakMap<Schema<unknown>, fc.Arbitrary<unknown>>()

function fold(schema: Schema<unknown>): fc.Arbitrary<unknown> {
  const former = known.get(schema)
  if (former !== undefined) return former
  const arbitrary = arbitraryOfNode(nodeOf(schema))
  known.set(schema, arbitrary)
  return arbitrary
}

function arbitraryOfNode(node: SchemaNode): fc.Arbitrary<unknown> {
  switch (node.kind) {
    case 'uint':
      return node.bits <= 32
        ? fc.integer({ min: 0, max: 2 ** node.bits - 1 })
        : fc.bigInt({ min: 0n, max: 2n ** BigInt(node.bits) - 1n })
    case 'bytes':
      return bitsByName[node.name] ?? hexOf(node.min, node.max)
    case 'text':
      return fc.string({ unit: 'grapheme', maxLength: 12 })
    case 'map':
      return entries
    case 'list':
      return listOf(node)
    case 'optional':
      return fc.option(fold(node.of), { nil: undefined })
    case 'union':
      return fc.oneof(...node.variants.map(fold))
    case 'struct':
      return structOf(node)
  }
}

function hexOf(minLength: number, maxLength: number) {
  return fc.uint8Array({ minLength, maxLength }).map(bytesToHex)
}

/** Bit masks whose last byte is not zero. Nodes also accept bits without a meaning. */
const bitsByName: Readonly<Record<string, fc.Arbitrary<string>>> = {
  TransactionCapabilities: maskOf(8),
  AddressCapabilities: maskOf(16),
}

function maskOf(bits: number): fc.Arbitrary<string> {
  return fc.integer({ min: 0, max: 2 ** bits - 1 }).map((mask) => {
    const bytes = [mask % 256, Math.floor(mask / 256)]
    while (bytes.at(-1) === 0) bytes.pop()
    return bytesToHex(Uint8Array.from(bytes))
  })
}

const key = fc.oneof(
  fc.string({
    unit: fc.integer({ min: 33, max: 126 }).map((code) => String.fromCharCode(code)),
    maxLength: 255,
  }),
  // A plain object reorders or loses these keys.
  fc.constantFrom('__proto__', 'constructor', '10', '9', 'toString'),
)

const entries: fc.Arbitrary<readonly MetadataEntry[]> = fc
  .uniqueArray(fc.record({ key, value: hexOf(0, 100) }), {
    minLength: 1,
    maxLength: 20,
    selector: (entry) => entry.key,
  })
  .map((list) => list.sort((a, b) => (a.key < b.key ? -1 : 1)))

function listOf(list: ListSchema<unknown>): fc.Arbitrary<readonly unknown[]> {
  const { of, min, max, by, required } = list
  const elements = fc.array(fold(of), { minLength: min, maxLength: max })
  if (by === undefined) return elements
  const needed = fc.tuple(...required.map((code) => fold(variantOf(of, code))))
  return fc
    .tuple(needed, elements)
    .map(([first, rest]) => {
      const sorted = [...first, ...rest].sort(by)
      return sorted.filter((one, i) => i === 0 || by(sorted[i - 1], one) < 0).slice(0, max)
    })
    .filter((unique) => unique.length >= min)
}

function variantOf(schema: Schema<unknown>, code: number): Schema<unknown> {
  const node = nodeOf(schema)
  const found = node.kind === 'union' ? node.variants.find((one) => one.code === code) : undefined
  return present(found, `a variant with code ${code}`)
}

function structOf({ name, code, fields }: StructSchema<unknown>): fc.Arbitrary<unknown> {
  const members = Object.entries(fields).map(([member, schema]) => [member, fold(schema)] as const)
  const type = code === undefined ? {} : { type: fc.constant(code) }
  const object = fc.record({ ...type, ...Object.fromEntries(members) }, { noNullPrototype: true })
  const repair = repairs.get(name)
  return repair === undefined ? object : object.map((value) => repair(value as never))
}

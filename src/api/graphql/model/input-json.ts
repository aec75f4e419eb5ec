import { present } from '../../../lib/assert.ts'
import { err, ok, type Result } from '../../../lib/result.ts'
import type { UnionSchema } from '../../../protocol/schema/composites.ts'
import type { Refusal } from '../../../protocol/schema/refusal.ts'
import type { Json, Schema } from '../../../protocol/schema/schema.ts'
import { fieldNameOf } from './from-schema.ts'
import { kindName, type ProtocolInput } from './from-schema-inputs.ts'
import { type AnyStruct, nodeOf, type ProtocolTypes } from './protocol-types.ts'

/**
 * Converts the value of a protocol input to the JSON of the protocol, so that the protocol checks every rule, and converts the paths
 * of its errors back to paths of the input.
 */

/** The conversions for the inputs of a schema. */
export interface InputFold {
  /**
   * Converts an input to JSON. The only error is a duplicate metadata key, which JSON cannot express. The path of the error is a
   * path of the input.
   */
  toJson(input: ProtocolInput): Result<Json, Refusal>
  /** Converts a path of the JSON to a path of the input. */
  toPath(input: ProtocolInput, path: string): string
}

/** Creates the conversions for the inputs of a schema. `types` has the families. */
export function inputFold(schema: Schema<unknown>, types: ProtocolTypes): InputFold {
  const choose = (union: UnionSchema<unknown>, input: ProtocolInput) =>
    chosenOf(union.name, types.families.get(union.name) ?? [], input)

  function toJson(input: ProtocolInput): Result<Json, Refusal> {
    const repeated: Refusal[] = []
    const refuse = (refusal: Refusal) => void repeated.push(refusal)
    const json = printInput(schema, input, { choose, path: [], refuse })
    const [first] = repeated
    return first === undefined ? ok(json ?? null) : err(first)
  }

  function toPath(input: ProtocolInput, path: string): string {
    return path === ''
      ? ''
      : keysOfInput(schema, input, { choose, keys: path.split('.') }).join('.')
  }

  return { toJson, toPath }
}

/** Finds the kind that the input of a family selects. The protocol checks whether that kind is allowed at this place. */
type Choose = (union: UnionSchema<unknown>, input: ProtocolInput) => Chosen

interface Chosen {
  readonly variant: AnyStruct
  /** Member of the input of the family that is set. */
  readonly member: string
  readonly value: unknown
}

/** The current path, and the function that reports what JSON cannot express. */
interface Place {
  readonly choose: Choose
  readonly path: readonly (string | number)[]
  readonly refuse: (refusal: Refusal) => void
}

/** Prints an input. Returns `undefined` for an absent member. */
function printInput(schema: Schema<unknown>, input: unknown, place: Place): Json | undefined {
  if (input === undefined || input === null) return undefined
  const node = nodeOf(schema)
  switch (node.kind) {
    case 'uint':
    case 'bytes':
    case 'text':
      return schema.print(input)
    case 'optional':
      return printInput(node.of, input, place)
    case 'list':
      return elementsOf(input).map((one, i) => printInput(node.of, one, inside(place, i)) ?? null)
    case 'map':
      return printEntries(elementsOf(input), place)
    case 'struct':
      return printStruct(node, membersOf(input), place)
    case 'union': {
      const { variant, member, value } = place.choose(node, membersOf(input))
      return printStruct(variant, membersOf(value), inside(place, member))
    }
  }
}

function printStruct(struct: AnyStruct, input: ProtocolInput, place: Place): Json {
  const json: Record<string, Json> = struct.code === undefined ? {} : { type: struct.code }
  for (const [member, schema] of Object.entries(struct.fields)) {
    const name = fieldNameOf(struct, member)
    const value = printInput(schema, input[name], inside(place, name))
    if (value !== undefined) json[member] = value
  }
  return json
}

function printEntries(entries: readonly unknown[], place: Place): Json {
  const valueByKey = new Map<string, Json>()
  for (const [i, entry] of entries.entries()) {
    const { key, value } = metadataEntryOf(entry)
    if (valueByKey.has(key)) {
      const path = [...place.path, i, 'key'].join('.')
      place.refuse({ code: 'FEATURE_METADATA_ORDER', path })
    }
    valueByKey.set(key, value)
  }
  return Object.fromEntries(valueByKey)
}

function inside(place: Place, key: string | number): Place {
  return { ...place, path: [...place.path, key] }
}

/** The rest of a path of JSON. */
interface Rest {
  readonly choose: Choose
  readonly keys: readonly string[]
}

function keysOfInput(
  schema: Schema<unknown>,
  input: unknown,
  { choose, keys }: Rest,
): readonly (string | number)[] {
  const node = nodeOf(schema)
  const [key, ...rest] = keys
  if (key === undefined || input === undefined || input === null) return keys
  if (node.kind === 'optional') return keysOfInput(node.of, input, { choose, keys })
  if (node.kind === 'map') return keysOfEntry(elementsOf(input), keys.join('.'))
  if (node.kind === 'union') {
    const { variant, member, value } = choose(node, membersOf(input))
    return [member, ...keysOfInput(variant, value, { choose, keys })]
  }
  if (node.kind === 'list') {
    const element = elementsOf(input)[Number(key)]
    return [key, ...keysOfInput(node.of, element, { choose, keys: rest })]
  }
  if (node.kind !== 'struct') return keys
  const inner = node.fields[key]
  if (inner === undefined) return keys
  const name = fieldNameOf(node, key)
  return [name, ...keysOfInput(inner, membersOf(input)[name], { choose, keys: rest })]
}

/** Converts the path of a metadata entry. A metadata key may contain dots, so the rest of the path is the key. */
function keysOfEntry(entries: readonly unknown[], key: string): readonly (string | number)[] {
  const index = entries.findIndex((entry) => metadataEntryOf(entry).key === key)
  return index === -1 ? [key] : [index, 'value']
}

function chosenOf(family: string, variants: readonly AnyStruct[], input: ProtocolInput): Chosen {
  const member = present(
    Object.keys(input).find((key) => input[key] !== undefined),
    `a kind of ${family}`,
  )
  const variant = variants.find(({ name }) => kindName(family, name) === member)
  return { variant: present(variant, `${family} ${member}`), member, value: input[member] }
}

// GraphQL has checked the shapes below against the input types, which are derived from the same schemas.

function membersOf(input: unknown): ProtocolInput {
  return input as ProtocolInput
}

function elementsOf(input: unknown): readonly unknown[] {
  return input as readonly unknown[]
}

function metadataEntryOf(input: unknown): { readonly key: string; readonly value: string } {
  return input as { readonly key: string; readonly value: string }
}

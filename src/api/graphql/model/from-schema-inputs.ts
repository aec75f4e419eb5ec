import { assert, present } from '../../../lib/assert.ts'
import { builder } from '../builder.ts'
import { enumOf } from '../declare.ts'
import { fieldNameOf, foldType, isOptional } from './from-schema.ts'
import { type AnyStruct, nodeOf, type ProtocolTypes, type SchemaNode } from './protocol-types.ts'
import { memberSentence, typeSentence } from './schema-sentences.ts'

/**
 * Derives GraphQL inputs from protocol types: an input object for each struct, and for each family a oneOf input object with a member
 * for each kind. `input-json.ts` converts their values to the JSON of the protocol.
 */

/** The value of an input object. GraphQL has checked its member names, but not the rules of the protocol. */
export interface ProtocolInput {
  readonly [member: string]: unknown
}

export interface InputTypes {
  /** Returns the input of a struct or family, by the name of its schema. */
  of(name: string): InputRef
}

type InputRef = ReturnType<typeof builder.inputRef<ProtocolInput, false>>
type InputFields = Parameters<InputRef['implement']>[0]['fields']
type InputFieldBuilder = Parameters<InputFields>[0]
type InputFieldMap = ReturnType<InputFields>
type FieldType = Parameters<InputFieldBuilder['field']>[0]['type']

/** Declares the inputs of the types and all types inside them. It can be called once per builder. */
export function declareInputs(types: ProtocolTypes): InputTypes {
  const refs = new Map<string, InputRef>()
  // All names are declared first, because inputs refer to each other.
  for (const name of [...types.structs.keys(), ...types.families.keys()]) {
    refs.set(name, builder.inputRef<ProtocolInput, false>(inputNameOf(name)))
  }
  const of = (name: string) => present(refs.get(name), `the input of ${name}`)
  for (const [name, struct] of types.structs) {
    // GraphQL has no input object without members: variants without members use the enum `Empty`.
    if (isEmpty(struct)) continue
    of(name).implement({
      description: typeSentence(struct),
      fields: (t) => memberFields(struct, t),
    })
  }
  for (const [name, variants] of types.families) {
    of(name).implement({
      description: 'A choice of kinds, of which exactly one must be given.',
      isOneOf: true,
      fields: (t) => kindFields(name, variants, t),
    })
  }

  function memberFields(struct: AnyStruct, t: InputFieldBuilder): InputFieldMap {
    return fieldMap(
      Object.entries(struct.fields).map(([member, schema]) => {
        const required = !isOptional(schema)
        const description = memberSentence(schema, types)
        const type = typeOf(nodeOf(schema), of)
        return [fieldNameOf(struct, member), t.field({ type, required, description })]
      }),
    )
  }

  function kindFields(
    family: string,
    variants: readonly AnyStruct[],
    t: InputFieldBuilder,
  ): InputFieldMap {
    const fields = variants.map((variant) => {
      const type = isEmpty(variant) ? Empty : of(variant.name)
      const field = t.field({ type, description: typeSentence(variant) })
      return [kindName(family, variant.name), field] as const
    })
    assert(new Set(fields.map(([name]) => name)).size === fields.length, `kinds of ${family}`)
    return fieldMap(fields)
  }

  return { of }
}

/** Returns the name of the input type. The name of a context input, such as `RewardInput`, already ends with `Input`. */
function inputNameOf(name: string): string {
  return name.endsWith('Input') ? `${name}Fields` : `${name}Input`
}

function typeOf(node: SchemaNode, named: InputTypes['of']): FieldType {
  return foldType<FieldType>(node, {
    scalar: (name) => name,
    list: (of) => [of] as FieldType,
    optional: (of) => of,
    named,
    entry: MetadataEntryInput,
  })
}

/**
 * Returns the member of a family's input for a variant: the name of the variant without the last words that it shares with the
 * family. Examples are `basic` for `BasicOutput` in `Output` and `commitment` for `CommitmentInput` in `ContextInput`.
 */
export function kindName(family: string, variant: string): string {
  const words = wordsOf(variant)
  const common = wordsOf(family)
  while (words.length > 1 && words.at(-1) === common.at(-1)) {
    words.pop()
    common.pop()
  }
  const [first = '', ...rest] = words
  return first.toLowerCase() + rest.join('')
}

function isEmpty(struct: AnyStruct): boolean {
  return Object.keys(struct.fields).length === 0
}

/** Splits a name into words. Abbreviations such as `NFT` are one word. */
function wordsOf(name: string): string[] {
  return name.match(/[A-Z]+(?![a-z])\d*|[A-Z][a-z0-9]*/g) ?? []
}

function fieldMap(fields: readonly (readonly [string, InputFieldMap[string]])[]): InputFieldMap {
  return Object.fromEntries(fields)
}

const Empty = enumOf('Empty', 'The value of a kind that has no members.', {
  EMPTY: 'The only value.',
})

const MetadataEntryInput = builder.inputType('MetadataEntryInput', {
  description:
    'An entry of a metadata map. Entries may be in any order. Each key may occur only once.',
  fields: (t) => ({
    key: t.string({
      required: true,
      description: 'The key: 1 to 255 characters of printable ASCII without spaces.',
    }),
    value: t.field({
      type: 'Hex',
      required: true,
      description: 'The value: 0 to 65535 bytes.',
    }),
  }),
})

import { fieldNameOf } from '../../src/api/graphql/model/from-schema.ts'
import { kindName } from '../../src/api/graphql/model/from-schema-inputs.ts'
import { nodeOf } from '../../src/api/graphql/model/protocol-types.ts'
import { present } from '../../src/lib/assert.ts'
import type { StructSchema } from '../../src/protocol/schema/composites.ts'
import type { Schema } from '../../src/protocol/schema/schema.ts'

/** Converts protocol JSON to a GraphQL input: a union becomes an object with one member for its kind, a map becomes a list. */
export function inputOf(schema: Schema<unknown>, json: unknown): unknown {
  if (json === undefined) return undefined
  const node = nodeOf(schema)
  switch (node.kind) {
    case 'uint':
    case 'bytes':
    case 'text':
      return json
    case 'optional':
      return inputOf(node.of, json)
    case 'list':
      return (json as unknown[]).map((element) => inputOf(node.of, element))
    case 'map':
      return Object.entries(json as object).map(([key, value]) => ({ key, value }))
    case 'struct':
      return membersOf(node, json as JsonObject)
    case 'union': {
      const { type } = json as JsonObject
      const variant = present(
        node.variants.find(({ code }) => code === type),
        `${node.name} ${type}`,
      )
      const members = membersOf(variant, json as JsonObject)
      const isEmpty = Object.keys(variant.fields).length === 0
      return { [kindName(node.name, variant.name)]: isEmpty ? 'EMPTY' : members }
    }
  }
}

interface JsonObject {
  readonly [member: string]: unknown
}

function membersOf(struct: StructSchema<unknown>, json: JsonObject): JsonObject {
  const members = Object.entries(struct.fields).flatMap(([member, schema]) => {
    const value = inputOf(schema, json[member])
    return value === undefined ? [] : [[fieldNameOf(struct, member), value] as const]
  })
  return Object.fromEntries(members)
}

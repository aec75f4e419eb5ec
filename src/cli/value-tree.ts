import { nodeOf } from '../protocol/schema/offset.ts'
import { encode, print, type Schema } from '../protocol/schema/schema.ts'

/** Formats protocol values as indented lines: every member, with type and size for values that have members. */

/** Formats a value under a name. */
export function valueTree(
  name: string,
  schema: Schema<unknown>,
  value: unknown,
): readonly string[] {
  const node = nodeOf(schema)
  if (value === undefined) return [`${name}: none`]
  switch (node.kind) {
    case 'struct': {
      const members = Object.entries(node.fields).flatMap(([key, member]) =>
        valueTree(key, member, memberOf(value, key)),
      )
      return [`${name}: ${node.name}, ${sizeOf(schema, value)}`, ...indented(members)]
    }
    case 'union': {
      const chosen = node.variants.find(({ code }) => code === memberOf(value, 'type'))
      return chosen === undefined ? [] : valueTree(name, chosen, value)
    }
    case 'optional':
      return valueTree(name, node.of, value)
    case 'list': {
      const elements = Array.isArray(value) ? value : []
      const lines = elements.flatMap((element, i) => valueTree(`${i}`, node.of, element))
      return [`${name}: ${elements.length}`, ...indented(lines)]
    }
    case 'map':
      return [`${name}: ${sizeOf(schema, value)}`, ...indented(jsonTree(print(schema, value)))]
    case 'uint':
    case 'bytes':
    case 'text':
      return [`${name}: ${print(schema, value)}`]
  }
}

/** Formats a JSON object or list. */
export function jsonTree(json: unknown): readonly string[] {
  return Object.entries(Object(json)).flatMap(([key, value]) =>
    typeof value === 'object' && value !== null
      ? [`${key}:`, ...indented(jsonTree(value))]
      : [`${key}: ${value}`],
  )
}

export function indented(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `  ${line}`)
}

function sizeOf(schema: Schema<unknown>, value: unknown): string {
  const { length } = encode(schema, value)
  return length === 1 ? '1 byte' : `${length} bytes`
}

function memberOf(value: unknown, key: string): unknown {
  return Reflect.get(Object(value), key)
}

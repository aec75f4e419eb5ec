import type { Fields } from '../../src/protocol/schema/composites.ts'
import type { Members } from '../../src/protocol/schema/members.ts'
import { Malformed, within } from '../../src/protocol/schema/refusal.ts'

/** Reads and writes the members of a type in a plain loop, as the reference for the compiled code. */
export function plainMembers(code: number | undefined, fields: Fields): Members {
  const members = Object.entries(fields)
  const type = code === undefined ? {} : { type: code }

  function each(take: (key: string, schema: Fields[string]) => unknown): object {
    const value: Record<string, unknown> = { ...type }
    for (const [key, schema] of members) {
      try {
        value[key] = take(key, schema)
      } catch (thrown) {
        throw within(thrown, key)
      }
    }
    return value
  }

  return {
    read: (r) => each((_key, schema) => schema.read(r)),
    write: (w, value) => {
      for (const [key, schema] of members) schema.write(w, Reflect.get(value, key))
    },
    size: (value) =>
      members.reduce((size, [key, schema]) => size + schema.size(Reflect.get(value, key)), 0),
    parse: (given) =>
      each((key, schema) => {
        const part: unknown = Object.hasOwn(given, key) ? Reflect.get(given, key) : undefined
        if (part === undefined && schema.mayBeAbsent !== true) throw new Malformed('JSON_MISSING')
        return schema.parse(part)
      }),
  }
}

import { assert } from '../../lib/assert.ts'
import { isJsonObject } from '../../lib/json.ts'
import type { Check, Fields, StructSchema } from './composites.ts'
import { membersOfType } from './members.ts'
import { offsetOf } from './offset.ts'
import type { Reader } from './reader.ts'
import { Malformed } from './refusal.ts'
import type { Json } from './schema.ts'
import type { Writer } from './writer.ts'

/** The common part of structs and variants. */

/** The parts of an object type. */
export interface ObjectOptions {
  readonly name: string
  readonly code?: number
  readonly documentedCode?: number | 'none'
  readonly fields: Fields
  readonly check?: Check<any> | undefined
}

/** Creates the schema of an object type: its code, if any, then its members, and last the rule over the whole object. */
export function objectOf({
  name,
  code,
  documentedCode,
  fields,
  check,
}: ObjectOptions): StructSchema<any> {
  const { read, write, size, parse } = membersOfType(code, fields)
  const documented = documentedCode ?? code
  const schema: StructSchema<any> = {
    kind: 'struct',
    name,
    code,
    ...(documentedCode === undefined ? {} : { documentedCode }),
    fields,
    read: (r: Reader) => {
      const start = r.at
      if (code !== undefined && r.u8() !== (r.numbering === 'released' ? code : documented)) {
        throw new Malformed('TYPE_UNEXPECTED', start)
      }
      const value = read(r)
      const broken = check?.(value)
      if (broken === undefined) return value
      throw new Malformed(broken.rule, offsetOf(schema, r, start, broken.at), ...broken.at)
    },
    write: (w: Writer, value: any) => {
      const own = w.numbering === 'released' ? code : documented
      assert(own !== 'none', `${name} has a code in this numbering`)
      if (own !== undefined) w.u8(own)
      write(w, value)
    },
    size: code === undefined ? size : (value: any) => 1 + size(value),
    parse: (json: unknown) => {
      const given = membersOf(json)
      if (code !== undefined && given.type !== code) {
        if (given.type === undefined) throw new Malformed('JSON_MISSING', undefined, 'type')
        throw new Malformed('TYPE_UNEXPECTED')
      }
      const value = parse(given)
      const broken = check?.(value, json)
      if (broken === undefined) return value
      throw new Malformed(broken.rule, undefined, ...broken.at)
    },
    print: (value: any) => {
      const json: Record<string, Json> = code === undefined ? {} : { type: code }
      for (const [key, member] of Object.entries(fields)) {
        const part = member.print(value[key])
        if (part !== undefined) json[key] = part
      }
      return json
    },
  }
  return schema
}

/** Checks that JSON is an object, and returns it with accessible members. */
export function membersOf(json: unknown): Readonly<Record<string, unknown>> {
  if (!isJsonObject(json)) throw new Malformed('JSON_TYPE')
  return json as Record<string, unknown>
}

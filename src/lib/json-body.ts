import { isJsonObject } from './json.ts'
import { err, ok, type Result } from './result.ts'

/** Declarations of request bodies. Each declaration gives both the JSON Schema of a value and its parser. */

/** The declaration of one value. */
export interface BodyForm<T> {
  /** The JSON Schema of the value. */
  readonly shape: { readonly [keyword: string]: unknown }
  /** Parses a value. `path` is its place in the body, such as `accessNodes.3`. */
  read(json: unknown, path: string): Result<T, BodyFault>
  /** Whether an object may omit this member. */
  readonly isOptional?: boolean
}

/** The member that is not valid, and the value that was expected. */
export interface BodyFault {
  readonly member: string
  readonly expected: string
}

/** Declares a value that `accept` accepts. */
export function bodyValue<T>(
  shape: BodyForm<T>['shape'],
  expected: string,
  accept: (json: unknown) => json is T,
): BodyForm<T> {
  return {
    shape,
    read: (json, member) => (accept(json) ? ok(json) : err({ member, expected })),
  }
}

export const bodyFlag: BodyForm<boolean> = bodyValue(
  { type: 'boolean' },
  'true or false',
  (json) => typeof json === 'boolean',
)

/** Declares a list of at most `max` values. `names` has the plural nouns of its values and of its items for messages. */
export function bodyList<T>(
  items: BodyForm<T>,
  max: number,
  names: { readonly values: string; readonly items: string },
): BodyForm<readonly T[]> {
  return {
    shape: { type: 'array', items: items.shape, maxItems: max },
    read: (json, member) => {
      if (!Array.isArray(json)) return err({ member, expected: `a list of ${names.values}` })
      if (json.length > max) return err({ member, expected: `at most ${max} ${names.items}` })
      const values: T[] = []
      for (const [i, item] of json.entries()) {
        const value = items.read(item, `${member}.${i}`)
        if (!value.ok) return value
        values.push(value.value)
      }
      return ok(values)
    },
  }
}

/** Makes a value optional. */
export function optionalBody<T>({ shape, read }: BodyForm<T>): BodyForm<T | undefined> {
  return {
    shape,
    isOptional: true,
    read: (json, member) => (json === undefined ? ok(undefined) : read(json, member)),
  }
}

/** The type of the values that a declaration parses. */
type ValueOf<F> = F extends BodyForm<infer T> ? T : never

/** The types of the members of an object. */
export type BodyOf<M> = { readonly [N in keyof M]: ValueOf<M[N]> }

/**
 * Declares an object with these members. Other members are ignored. `expected` describes the object in the error for a value of another
 * type. Without `expected`, that error names the first required member.
 */
export function bodyObject<M extends { readonly [name: string]: BodyForm<unknown> }>(
  members: M,
  expected?: string,
): BodyForm<BodyOf<M>> {
  const entries = Object.entries(members)
  return {
    shape: {
      type: 'object',
      properties: Object.fromEntries(entries.map(([name, { shape }]) => [name, shape])),
      required: entries.filter(([, form]) => form.isOptional !== true).map(([name]) => name),
    },
    read: (json, path) => {
      const isObject = isJsonObject(json)
      if (!isObject && expected !== undefined) return err({ member: path, expected })
      const given: Readonly<Record<string, unknown>> = isObject ? { ...json } : {}
      const values: Record<string, unknown> = {}
      for (const [name, form] of entries) {
        const value = form.read(given[name], name)
        if (!value.ok) return value
        values[name] = value.value
      }
      // The declaration of each member has checked its type.
      return ok(values as BodyOf<M>)
    },
  }
}

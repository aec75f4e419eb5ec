import { err, ok, type Result } from './result.ts'

/** Declares the JSON of a request body once: each declaration describes a value as JSON Schema, and reads and refuses it. */

export interface BodyForm<T> {
  readonly shape: { readonly [keyword: string]: unknown }
  /** Reads a value; `path` is where it stands, such as `accessNodes.3`. */
  read(json: unknown, path: string): Result<T, BodyFault>
  /** Whether it may be left out, as a member of an object. */
  readonly isOptional?: boolean
}

/** Where a body is of another form, and what was expected there. */
export interface BodyFault {
  readonly member: string
  readonly expected: string
}

/** A value that a check accepts. */
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

/** `true` or `false`. */
export const bodyFlag: BodyForm<boolean> = bodyValue(
  { type: 'boolean' },
  'true or false',
  (json) => typeof json === 'boolean',
)

/** A list of at most `max` values; `names` are its values and its elements, in the plural. */
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

/** The same form, whose value may be left out. */
export function optionalBody<T>({ shape, read }: BodyForm<T>): BodyForm<T | undefined> {
  return {
    shape,
    isOptional: true,
    read: (json, member) => (json === undefined ? ok(undefined) : read(json, member)),
  }
}

/** The values that a form reads. */
export type ValueOf<F> = F extends BodyForm<infer T> ? T : never

/** The values of an object's members. */
export type BodyOf<M> = { readonly [N in keyof M]: ValueOf<M[N]> }

/**
 * An object with these members; others are ignored. `expected` says what a value that is no object should be; left out:
 * such a value lacks the first member.
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
      const isObject = typeof json === 'object' && json !== null && !Array.isArray(json)
      if (!isObject && expected !== undefined) return err({ member: path, expected })
      const given: Readonly<Record<string, unknown>> = isObject ? { ...json } : {}
      const values: Record<string, unknown> = {}
      for (const [name, form] of entries) {
        const value = form.read(given[name], name)
        if (!value.ok) return value
        values[name] = value.value
      }
      // Each member was read by the form that gives its type.
      return ok(values as BodyOf<M>)
    },
  }
}

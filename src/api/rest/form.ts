import type { Hex } from '../../lib/hex.ts'

/** Forms of JSON values: each form describes a value as JSON Schema (draft 2020-12) and prints it. */

export interface Shape {
  readonly [keyword: string]: unknown
}

/** A form of JSON values. */
export interface Form<T> {
  readonly shape: Shape
  print(value: T): unknown
}

export interface OptionalForm<T> extends Form<T> {
  readonly isOptional: true
}

/** The members of an object, each required unless it is optional. */
export interface FormMembers {
  readonly [name: string]: Form<unknown>
}

/** The object that a form of these members prints. */
export type MembersOf<M extends FormMembers> = {
  readonly [N in keyof M as M[N] extends OptionalForm<unknown> ? never : N]: ValueOf<M[N]>
} & {
  readonly [N in keyof M as M[N] extends OptionalForm<unknown> ? N : never]?:
    | ValueOf<M[N]>
    | undefined
}

type ValueOf<F> = F extends Form<infer T> ? T : never

/** Creates the form of an object with these members, printed in their order. Other members of a value are not printed. */
export function object<M extends FormMembers>(members: M): Form<MembersOf<M>> {
  const entries = Object.entries(members)
  const required = entries.filter(([, form]) => !isOptional(form)).map(([name]) => name)
  const properties = Object.fromEntries(entries.map(([name, { shape }]) => [name, shape]))
  return {
    shape: { type: 'object', properties, required },
    print: (value: Readonly<Record<string, unknown>>) => {
      const printed: Record<string, unknown> = {}
      for (const [name, form] of entries) {
        const member = value[name]
        if (member !== undefined) printed[name] = form.print(member)
      }
      return printed
    },
  }
}

/** Makes a member optional. */
export function optional<T>(form: Form<T>): OptionalForm<T> {
  return { ...form, isOptional: true }
}

/** Creates the form of a list with at most `max` elements; without `max` it has no limit. */
export function listOf<T>(items: Form<T>, max?: number): Form<readonly T[]> {
  return {
    shape: { type: 'array', items: items.shape, ...(max !== undefined && { maxItems: max }) },
    print: (values) => values.map((value) => items.print(value)),
  }
}

/** Adds a description to a form. */
export function about<T>(sentence: string, form: Form<T>): Form<T> {
  return limited({ description: sentence }, form)
}

/** Adds keywords to a form, such as limits, patterns or a default. */
export function limited<T>(keywords: Shape, form: Form<T>): Form<T> {
  return { shape: { ...form.shape, ...keywords }, print: form.print }
}

/** Creates a form that converts values before it prints them. */
export function printedBy<A, B>(convert: (value: A) => B, form: Form<B>): Form<A> {
  return { shape: form.shape, print: (value) => form.print(convert(value)) }
}

export const text: Form<string> = asItIs({ type: 'string' })

export const anyObject: Form<object> = asItIs({ type: 'object' })

/** `true` or `false`. */
export const flag: Form<boolean> = asItIs({ type: 'boolean' })

/** A whole number from 0 to 2^32 - 1. */
export const uint32: Form<number> = asItIs({ type: 'integer', minimum: 0, maximum: 0xffff_ffff })

/** A whole number from 0 that JSON represents exactly. */
export const count: Form<number> = asItIs({ type: 'integer', minimum: 0 })

/** A 64-bit whole number, as a decimal string. */
export const uint64: Form<bigint> = {
  shape: { type: 'string', pattern: '^[0-9]{1,20}$' },
  print: (value) => value.toString(),
}

/** A Unix time in milliseconds, printed as ISO 8601 in UTC. */
export const isoTime: Form<number> = {
  shape: {
    type: 'string',
    pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?Z$',
  },
  print: (value) => new Date(value).toISOString(),
}

/** One of some words. */
export function word<const W extends string>(...words: readonly [W, ...W[]]): Form<W> {
  return asItIs({ type: 'string', enum: words })
}

/** An address in Bech32. */
export const bech32: Form<string> = asItIs({
  type: 'string',
  pattern: '^[!-~]+1[02-9ac-hj-np-zAC-HJ-NP-Z]+$',
})

/** An identifier, described in the components of the OpenAPI document. */
export function id(name: string): Form<Hex> {
  return asItIs(named(name))
}

/** A reference to a component of the OpenAPI document. */
export function named(name: string): Shape {
  return { $ref: `#/components/schemas/${name}` }
}

/** Creates a form for values that already are JSON. */
export function asItIs<T>(shape: Shape): Form<T> {
  return { shape, print: (value) => value }
}

function isOptional(form: Form<unknown>): form is OptionalForm<unknown> {
  return 'isOptional' in form
}

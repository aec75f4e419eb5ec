import type { Reader } from './reader.ts'
import type { RefusalCode } from './refusal.ts'
import type { Width } from './scalars.ts'
import type { Infer, Schema } from './schema.ts'

/** The schemas of objects, choices, lists and optional parts, made of other schemas; `declare.ts` makes them. */

/** The members of an object, in the order of their bytes. */
export interface Fields {
  readonly [member: string]: Schema<any>
}

/** The values of an object with these members. */
export type ValueOf<F extends Fields> = { readonly [K in keyof F]: Infer<F[K]> }

/** An object. With a `code` it is a variant: its bytes begin with the code, its JSON has it as `type`. */
export interface StructSchema<T> extends Schema<T> {
  readonly kind: 'struct'
  readonly name: string
  readonly code: number | undefined
  /** The code in the numbering of the service document, where it differs; `none` where that has no such kind. */
  readonly documentedCode?: number | 'none'
  readonly fields: Fields
}

/** An object with a code. */
export interface VariantSchema<C extends number, T> extends StructSchema<T> {
  readonly code: C
}

/** Any variant, for functions that take a choice of them. */
export type AnyVariant = VariantSchema<number, any>

/** A choice among variants of one family, distinguished by their code. */
export interface UnionSchema<T> extends Schema<T> {
  readonly kind: 'union'
  /** The family, such as `Output`: all variants met under one family make one GraphQL union. */
  readonly name: string
  readonly variants: readonly AnyVariant[]
  /** The variant that the next byte names; none where it names none that may stand here. */
  choose(r: Reader): AnyVariant | undefined
}

/** A list with its count in front. */
export interface ListSchema<T> extends Schema<readonly T[]> {
  readonly kind: 'list'
  readonly of: Schema<T>
  readonly count: Width
  readonly min: number
  readonly max: number
  /** Compares two elements; the list is strictly ascending by it. Absent when any order will do. */
  readonly by?: (a: T, b: T) => number
  /** Types that must be among the elements. */
  readonly required: readonly number[]
}

/** A value that may be absent, with the length of its bytes in front. */
export interface OptionalSchema<T> extends Schema<T | undefined> {
  readonly kind: 'optional'
  readonly of: Schema<T>
}

/** What a rule over a whole object finds broken: the rule, and the way from the object to the part at fault. */
export interface Broken {
  readonly rule: RefusalCode
  readonly at: readonly (string | number)[]
}

/** A rule over a whole object that its members alone cannot check. `json` is what it was parsed from, if it was. */
export type Check<T> = (value: T, json?: unknown) => Broken | undefined

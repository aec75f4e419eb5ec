import type { Reader } from './reader.ts'
import type { RefusalCode } from './refusal.ts'
import type { Width } from './scalars.ts'
import type { Infer, Schema } from './schema.ts'

/** Schema types of objects, unions, lists and optional parts; `declare.ts` creates such schemas. */

/** The members of an object, in the order of their bytes. */
export interface Fields {
  readonly [member: string]: Schema<any>
}

/** The values of an object with these members. */
export type ValueOf<F extends Fields> = { readonly [K in keyof F]: Infer<F[K]> }

/** An object. With a `code` it is a variant: its bytes begin with the code, its JSON has the code as `type`. */
export interface StructSchema<T> extends Schema<T> {
  readonly kind: 'struct'
  readonly name: string
  readonly code: number | undefined
  /** The code in the numbering of the service document if it differs; `none` if that numbering does not have the kind. */
  readonly documentedCode?: number | 'none'
  readonly fields: Fields
}

/** An object with a code. */
export interface VariantSchema<C extends number, T> extends StructSchema<T> {
  readonly code: C
}

export type AnyVariant = VariantSchema<number, any>

/** A union of variants of one family, which are distinguished by their code. */
export interface UnionSchema<T> extends Schema<T> {
  readonly kind: 'union'
  /** The family, such as `Output`. All variants of one family form one GraphQL union. */
  readonly name: string
  readonly variants: readonly AnyVariant[]
  /** The variant of the next byte; `undefined` if the byte is not the code of an allowed variant. */
  choose(r: Reader): AnyVariant | undefined
}

/** A list with a count prefix. */
export interface ListSchema<T> extends Schema<readonly T[]> {
  readonly kind: 'list'
  readonly of: Schema<T>
  readonly count: Width
  readonly min: number
  readonly max: number
  /** Compares two elements; the list must be strictly ascending. Absent if any order is allowed. */
  readonly by?: (a: T, b: T) => number
  /** Types that must be among the elements. */
  readonly required: readonly number[]
}

/** A value that may be absent, with a length prefix. */
export interface OptionalSchema<T> extends Schema<T | undefined> {
  readonly kind: 'optional'
  readonly of: Schema<T>
}

/** A broken rule of a whole object: the rule, and the path from the object to the faulty part. */
export interface Broken {
  readonly rule: RefusalCode
  readonly at: readonly (string | number)[]
}

/** A rule over a whole object that its members alone cannot check. `json` is the source of a parsed value. */
export type Check<T> = (value: T, json?: unknown) => Broken | undefined

import type {
  AnyVariant,
  Check,
  Fields,
  ListSchema,
  OptionalSchema,
  StructSchema,
  UnionSchema,
  ValueOf,
  VariantSchema,
} from './composites.ts'
import { membersOf, objectOf } from './objects.ts'
import type { Numbering, Reader } from './reader.ts'
import { Malformed, type RefusalCode, within } from './refusal.ts'
import { sizeOfWidth, type Width } from './scalars.ts'
import type { Infer, Schema } from './schema.ts'

/** Creates schemas of objects, unions, lists and optional parts from other schemas. */

/** An object without a code. */
export function struct<F extends Fields>(
  name: string,
  fields: F,
  check?: Check<ValueOf<F>>,
): StructSchema<ValueOf<F>> & { readonly fields: F } {
  return { ...objectOf({ name, fields, check }), fields }
}

export interface VariantOptions<T> {
  readonly check?: Check<T>
  readonly documentedCode?: number | 'none'
}

/** An object with a code. */
export function variant<const C extends number, F extends Fields>(
  name: string,
  code: C,
  fields: F,
  options: VariantOptions<{ readonly type: C } & ValueOf<F>> = {},
): VariantSchema<C, { readonly type: C } & ValueOf<F>> & { readonly fields: F } {
  return { ...objectOf({ name, code, fields, ...options }), code, fields }
}

/** The families of variants, and the rule that an unknown code of the family breaks. */
const unknownCodeRules = {
  Address: 'TYPE_ADDRESS',
  BlockBody: 'TYPE_BLOCK_BODY',
  BlockIssuerKey: 'TYPE_BLOCK_ISSUER_KEY',
  ContextInput: 'TYPE_CONTEXT_INPUT',
  Feature: 'TYPE_FEATURE',
  Input: 'TYPE_INPUT',
  Output: 'TYPE_OUTPUT',
  Payload: 'TYPE_PAYLOAD',
  ProofNode: 'TYPE_PROOF_NODE',
  Signature: 'TYPE_SIGNATURE',
  TokenScheme: 'TYPE_TOKEN_SCHEME',
  Unlock: 'TYPE_UNLOCK',
  UnlockCondition: 'TYPE_UNLOCK_CONDITION',
} as const satisfies { readonly [family: string]: RefusalCode }

/** The restriction of a union to some variants of a family. */
export interface Restriction {
  /** All variants of the family; a function, because a variant of the family may contain the union. */
  readonly family: () => readonly AnyVariant[]
  /** The rule that a code of the family breaks if it is not allowed at this place. */
  readonly rule: RefusalCode
}

export function union<V extends readonly AnyVariant[]>(
  name: keyof typeof unknownCodeRules,
  ...variants: V
): UnionSchema<Infer<V[number]>> {
  return restrictedUnion(name, undefined, ...variants)
}

/** A union of some variants of a family. */
export function restrictedUnion<V extends readonly AnyVariant[]>(
  name: keyof typeof unknownCodeRules,
  restriction: Restriction | undefined,
  ...variants: V
): UnionSchema<Infer<V[number]>> {
  const released = tableOf(variants, 'released')
  const documented = tableOf(variants, 'documented')
  const refuse = (code: unknown, numbering: Numbering, offset?: number): never => {
    if (numbering === 'documented' && released[Number(code)] !== undefined) {
      throw new Malformed('NUMBERING_MIXED', offset)
    }
    const isOfFamily = restriction?.family().some((other) => other.code === code)
    const rule = isOfFamily ? restriction?.rule : undefined
    throw new Malformed(rule ?? unknownCodeRules[name], offset)
  }
  const choose = (r: Reader) => (r.numbering === 'released' ? released : documented)[r.peek()]
  return {
    kind: 'union',
    name,
    variants,
    choose,
    read: (r) => (choose(r) ?? refuse(r.peek(), r.numbering, r.at)).read(r),
    write: (w, value) => (released[value.type] ?? refuse(value.type, 'released')).write(w, value),
    size: (value) => (released[value.type] ?? refuse(value.type, 'released')).size(value),
    parse: (json) => {
      const { type } = membersOf(json)
      if (type === undefined) throw new Malformed('JSON_MISSING', undefined, 'type')
      const chosen = typeof type === 'number' ? released[type] : undefined
      return (chosen ?? refuse(type, 'released')).parse(json)
    },
    print: (value) => (released[value.type] ?? refuse(value.type, 'released')).print(value),
  }
}

/** Limits and order of a list. */
export interface ListOptions<T> {
  readonly min?: number
  readonly max: number
  /** The rule that a count out of range breaks. */
  readonly size: RefusalCode
  /** The comparison by which the list must be strictly ascending, and the rule of this order. */
  readonly order?: { readonly by: (a: T, b: T) => number; readonly rule: RefusalCode }
  /** Types that must be among the elements, and the rule of this requirement. */
  readonly every?: { readonly required: readonly number[]; readonly rule: RefusalCode }
  /** Whether JSON leaves out an empty list. */
  readonly omitEmpty?: boolean
}

/** A list; the count is checked before the first element is read. */
export function list<T>(count: Width, of: Schema<T>, options: ListOptions<T>): ListSchema<T> {
  const { min = 0, max, order, every, omitEmpty = false } = options
  return {
    kind: 'list',
    of,
    count,
    min,
    max,
    ...(order === undefined ? {} : { by: order.by }),
    required: every?.required ?? [],
    mayBeAbsent: omitEmpty,
    read: (r) => readList(r, count, of, options),
    write: (w, values) => {
      w[count](values.length)
      for (const value of values) of.write(w, value)
    },
    size: (values) => {
      let bytes: number = sizeOfWidth[count]
      for (const value of values) bytes += of.size(value)
      return bytes
    },
    parse: (json) => (json === undefined && omitEmpty ? [] : parseList(json, of, options)),
    print: (values) =>
      omitEmpty && values.length === 0 ? undefined : values.map((value) => of.print(value) ?? null),
  }
}

// Creates no closures: thousands of lists are read, and each closure would be garbage.
function readList<T>(r: Reader, count: Width, of: Schema<T>, options: ListOptions<T>): T[] {
  const start = r.at
  const length = r[count]()
  checkCount(length, options, start)
  // Every element has at least one byte, so a count beyond the end is refused before anything is allocated.
  if (length > r.end - r.at) throw new Malformed('BIN_EOF', start)
  const values = new Array<T>(length)
  let i = 0
  try {
    for (; i < length; i++) {
      const offset = r.at
      const value = of.read(r)
      checkOrder(values[i - 1], value, options, offset)
      values[i] = value
    }
  } catch (thrown) {
    throw within(thrown, i)
  }
  checkRequired(values, options, start)
  return values
}

function parseList<T>(json: unknown, of: Schema<T>, options: ListOptions<T>): T[] {
  if (!Array.isArray(json)) throw new Malformed('JSON_TYPE')
  checkCount(json.length, options)
  const values = new Array<T>(json.length)
  let i = 0
  try {
    for (; i < json.length; i++) {
      const value = of.parse(json[i])
      checkOrder(values[i - 1], value, options)
      values[i] = value
    }
  } catch (thrown) {
    throw within(thrown, i)
  }
  checkRequired(values, options)
  return values
}

function checkCount<T>(length: number, { min = 0, max, size }: ListOptions<T>, offset?: number) {
  if (length < min || length > max) throw new Malformed(size, offset)
}

function checkOrder<T>(
  former: T | undefined,
  value: T,
  { order }: ListOptions<T>,
  offset?: number,
): void {
  if (order !== undefined && former !== undefined && order.by(former, value) >= 0) {
    throw new Malformed(order.rule, offset)
  }
}

function checkRequired<T>(values: readonly T[], { every }: ListOptions<T>, offset?: number): void {
  if (every === undefined) return
  for (const type of every.required) {
    if (!hasType(values, type)) throw new Malformed(every.rule, offset)
  }
}

/** A part that may be absent, with a u32 length prefix that is 0 if the part is absent. `null` in JSON means absent. */
export function optional<T>(of: Schema<T>): OptionalSchema<T> {
  return {
    kind: 'optional',
    of,
    mayBeAbsent: true,
    read: (r) => {
      const start = r.at
      const length = r.u32()
      if (length === 0) return undefined
      if (length > r.end - r.at) throw new Malformed('BIN_EOF', start)
      const at = r.at
      const value = of.read(r)
      if (r.at - at !== length) throw new Malformed('BIN_PAYLOAD_LENGTH', start)
      return value
    },
    write: (w, value) => {
      const at = w.room(4)
      if (value !== undefined) of.write(w, value)
      w.setU32(at, w.length - at - 4)
    },
    size: (value) => 4 + (value === undefined ? 0 : of.size(value)),
    parse: (json) => (json === undefined || json === null ? undefined : of.parse(json)),
    print: (value) => (value === undefined ? undefined : of.print(value)),
  }
}

function tableOf(variants: readonly AnyVariant[], numbering: Numbering) {
  const table: (AnyVariant | undefined)[] = Array(256).fill(undefined)
  for (const one of variants) {
    const code = numbering === 'released' ? one.code : (one.documentedCode ?? one.code)
    if (typeof code === 'number') table[code] = one
  }
  return table
}

function hasType(values: readonly any[], type: number): boolean {
  for (const value of values) if (value.type === type) return true
  return false
}

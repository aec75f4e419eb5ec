import { err, ok, type Result } from '../../lib/result.ts'
import { Reader } from './reader.ts'
import { Malformed, type Refusal, type RefusalCode } from './refusal.ts'
import { Writer } from './writer.ts'

/** A value that JSON can hold. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json }

/** The kinds of schemas: the kinds in blocks, and the leaves that only node responses have. */
export type SchemaKind =
  | 'uint'
  | 'bytes'
  | 'text'
  | 'list'
  | 'struct'
  | 'union'
  | 'optional'
  | 'map'
  | 'flag'
  | 'word'
  | 'rate'
  | 'int'

/**
 * One protocol type: data (kind, name, limits) for code that traverses schemas, and five closures. Bytes must be canonical.
 * JSON is parsed by the rules of the codec reference (1) and printed in one form.
 */
export interface Schema<T> {
  readonly kind: SchemaKind
  /** The meaning of the value, with its unit and range, if the name does not state it. */
  readonly about?: string
  /** Whether the JSON member may be left out. */
  readonly mayBeAbsent?: boolean
  /** The first broken rule that only the official SDK has (codec reference 19). `read` and `parse` do not apply these rules. */
  brokenForSdk?(value: T): RefusalCode | undefined
  read(r: Reader): T
  write(w: Writer, value: T): void
  /** Number of bytes that `write` writes. */
  size(value: T): number
  parse(json: unknown): T
  /** Returns `undefined` if JSON leaves out the member. */
  print(value: T): Json | undefined
}

export type Infer<S> = S extends Schema<infer T> ? T : never

/** Adds a description to a schema: its meaning at this place, with unit, range and special values. */
export function about<S extends Schema<any>>(sentence: string, schema: S): S {
  return { ...schema, about: sentence }
}

/**
 * Decodes bytes, all of which must belong to the value. The error has the rule, the path and the offset. Linear in the input.
 * The bytes are decoded in the released numbering first; if that fails, in the documented numbering.
 */
export function decode<T>(schema: Schema<T>, bytes: Uint8Array): Result<T, Refusal> {
  const released = readAll(schema, new Reader(bytes))
  if (released.ok) return released
  const reader = new Reader(bytes, 'documented')
  const documented = readAll(schema, reader)
  if (documented.ok) return documented
  // Of two failures, the one at the higher offset more likely has the intended numbering.
  const isFurther = (documented.error.offset ?? 0) > (released.error.offset ?? 0)
  return reader.isNumberingSure && isFurther ? documented : released
}

/** Whether all bytes decode to one value in the released numbering. */
export function isReadable(schema: Schema<any>, bytes: Uint8Array): boolean {
  return readAll(schema, new Reader(bytes)).ok
}

/** A value in its given form. */
export type Form =
  | { readonly form: 'json'; readonly json: unknown }
  | { readonly form: 'bytes'; readonly bytes: Uint8Array }

/** Decodes or parses a value. */
export function decodeOrParse<T>(schema: Schema<T>, given: Form): Result<T, Refusal> {
  return given.form === 'bytes' ? decode(schema, given.bytes) : parse(schema, given.json)
}

/** Parses JSON. The error has the rule and the path. */
export function parse<T>(schema: Schema<T>, json: unknown): Result<T, Refusal> {
  try {
    return ok(schema.parse(json))
  } catch (thrown) {
    return err(refusalOf(thrown))
  }
}

export function encode<T>(schema: Schema<T>, value: T): Uint8Array<ArrayBuffer> {
  scratch.reset()
  schema.write(scratch, value)
  return scratch.bytes()
}

/** Converts a value to its JSON form. */
export function print<T>(schema: Schema<T>, value: T): Json {
  return schema.print(value) ?? null
}

/** Shared by all calls of `encode`, which is safe because `encode` is synchronous and returns a copy. */
const scratch = new Writer(65_536)

function readAll<T>(schema: Schema<T>, reader: Reader): Result<T, Refusal> {
  try {
    const value = schema.read(reader)
    if (reader.at !== reader.end) throw new Malformed('BIN_TRAILING', reader.at)
    return ok(value)
  } catch (thrown) {
    return err(refusalOf(thrown))
  }
}

function refusalOf(thrown: unknown): Refusal {
  if (!(thrown instanceof Malformed)) throw thrown
  const { code, offset } = thrown
  const path = thrown.path.join('.')
  return offset === undefined ? { code, path } : { code, path, offset }
}

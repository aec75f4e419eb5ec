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

/** The kinds of schemas: those that blocks are made of, and the leaves that only answers of a node have. */
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
 * One protocol type: readable data (kind, name, limits) for code that walks over it, and five closures.
 * Bytes are canonical or refused; JSON is read by the rules of the codec reference (1) and written in one form.
 */
export interface Schema<T> {
  readonly kind: SchemaKind
  /** One sentence on what the value means, with its unit and range, where the name does not say it. */
  readonly about?: string
  /** Whether the JSON member may be left out. */
  readonly mayBeAbsent?: boolean
  /** The first rule of the official SDK that a value breaks and that no node has (codec reference 19); reading allows it. */
  brokenForSdk?(value: T): RefusalCode | undefined
  read(r: Reader): T
  write(w: Writer, value: T): void
  /** How many bytes it writes. */
  size(value: T): number
  parse(json: unknown): T
  /** `undefined` leaves the member out. */
  print(value: T): Json | undefined
}

/** The type of the values of a schema. */
export type Infer<S> = S extends Schema<infer T> ? T : never

/** The same schema with a sentence on what it means at this place: unit, range, special values. */
export function about<S extends Schema<any>>(sentence: string, schema: S): S {
  return { ...schema, about: sentence }
}

/**
 * Bytes to value. All bytes must be used; the error names rule, path and offset. Linear in the input. Bytes are
 * read in the released numbering first, and only when that fails in the documented one.
 */
export function decode<T>(schema: Schema<T>, bytes: Uint8Array): Result<T, Refusal> {
  const released = readAll(schema, new Reader(bytes))
  if (released.ok) return released
  const reader = new Reader(bytes, 'documented')
  const documented = readAll(schema, reader)
  if (documented.ok) return documented
  // Of two failures the one further on says more about what was meant.
  const isFurther = (documented.error.offset ?? 0) > (released.error.offset ?? 0)
  return reader.isNumberingSure && isFurther ? documented : released
}

/** Whether all bytes make one value in the released numbering. */
export function isReadable(schema: Schema<any>, bytes: Uint8Array): boolean {
  return readAll(schema, new Reader(bytes)).ok
}

/** JSON to value; the error names rule and path. */
export function parse<T>(schema: Schema<T>, json: unknown): Result<T, Refusal> {
  try {
    return ok(schema.parse(json))
  } catch (thrown) {
    return err(refusalOf(thrown))
  }
}

/** Value to bytes. */
export function encode<T>(schema: Schema<T>, value: T): Uint8Array<ArrayBuffer> {
  scratch.reset()
  schema.write(scratch, value)
  return scratch.bytes()
}

/** Value to JSON, in the one form that is written. */
export function print<T>(schema: Schema<T>, value: T): Json {
  return schema.print(value) ?? null
}

/** Shared by all calls of `encode`: writing is synchronous and nothing of it is kept. */
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

import { assert } from '../../lib/assert.ts'
import { isJsonObject } from '../../lib/json.ts'
import { Malformed, within } from './refusal.ts'
import { sizeOfWidth, type TextSchema } from './scalars.ts'
import type { Schema } from './schema.ts'

/** Schemas of node responses and of tool files; blocks do not use them. */

/** `true` or `false`, one byte. */
export interface FlagSchema extends Schema<boolean> {
  readonly kind: 'flag'
}

/** One of some words; the byte is the index of the word. */
export interface WordSchema<W extends string> extends Schema<W> {
  readonly kind: 'word'
  readonly words: readonly W[]
}

/** Any number; decimal text in JSON, a 64-bit float in bytes. */
export interface RateSchema extends Schema<number> {
  readonly kind: 'rate'
}

/** A signed 64-bit integer; decimal text in JSON. */
export interface IntSchema extends Schema<bigint> {
  readonly kind: 'int'
}

export type ResponseLeaf = FlagSchema | WordSchema<string> | RateSchema | IntSchema

/** `true` or `false`. */
export const flag: FlagSchema = {
  kind: 'flag',
  read: (r) => {
    const at = r.at
    const byte = r.u8()
    if (byte > 1) throw new Malformed('JSON_TYPE', at)
    return byte === 1
  },
  write: (w, value) => w.u8(value ? 1 : 0),
  size: () => 1,
  parse: (json) => {
    if (typeof json !== 'boolean') throw new Malformed('JSON_TYPE')
    return json
  },
  print: (value) => value,
}

/** One of some words; their order determines their bytes. */
export function word<const W extends string>(...words: readonly W[]): WordSchema<W> {
  const known = (found: W | undefined, at?: number): W => {
    if (found === undefined) throw new Malformed('JSON_TYPE', at)
    return found
  }
  return {
    kind: 'word',
    words,
    read: (r) => {
      const at = r.at
      return known(words[r.u8()], at)
    },
    write: (w, value) => w.u8(words.indexOf(value)),
    size: () => 1,
    parse: (json) => known(words.find((one) => one === json)),
    print: (value) => value,
  }
}

/** A non-negative number. */
export const rate: RateSchema = {
  kind: 'rate',
  read: (r) => {
    const bits = new DataView(new ArrayBuffer(8))
    bits.setBigUint64(0, r.u64())
    return bits.getFloat64(0)
  },
  write: (w, value) => {
    const bits = new DataView(new ArrayBuffer(8))
    bits.setFloat64(0, value)
    w.u64(bits.getBigUint64(0))
  },
  size: () => 8,
  parse: (json) => {
    const value = typeof json === 'string' && json !== '' ? Number(json) : Number.NaN
    if (!Number.isFinite(value)) throw new Malformed('JSON_NUMBER')
    return value
  },
  print: (value) => String(value),
}

/** A signed 64-bit integer. */
export const int64: IntSchema = {
  kind: 'int',
  read: (r) => BigInt.asIntN(64, r.u64()),
  write: (w, value) => w.u64(BigInt.asUintN(64, value)),
  size: () => 8,
  parse: (json) => {
    if (typeof json !== 'string' || !/^-?[0-9]{1,19}$/.test(json)) throw new Malformed('JSON_I64')
    const value = BigInt(json)
    if (BigInt.asIntN(64, value) !== value) throw new Malformed('JSON_I64')
    return value
  },
  print: (value) => value.toString(),
}

/** Text that JSON leaves out if it is empty; `width` is the width of the length prefix. */
export function omittedText(name: string, width: 'u8' | 'u16'): TextSchema {
  return {
    kind: 'text',
    name,
    mayBeAbsent: true,
    read: (r) => {
      const size = r[width]()
      const at = r.take(size)
      return r.buf.toString('utf8', at, at + size)
    },
    write: (w, value) => {
      const bytes = Buffer.from(value)
      w[width](bytes.length)
      const at = w.room(bytes.length)
      w.buf.set(bytes, at)
    },
    size: (value) => sizeOfWidth[width] + Buffer.byteLength(value),
    parse: (json) => {
      if (json === undefined || json === null) return ''
      if (typeof json !== 'string') throw new Malformed('JSON_TYPE')
      return json
    },
    print: (value) => (value === '' ? undefined : value),
  }
}

/** The schema of a value that JSON leaves out if it is `none`; bytes always contain the value. */
export function omitted<S extends Schema<any>>(schema: S, none: ReturnType<S['read']>): S {
  return {
    ...schema,
    mayBeAbsent: true,
    parse: (json: unknown) => (json === undefined || json === null ? none : schema.parse(json)),
    print: (value: any) => (value === none ? undefined : schema.print(value)),
  }
}

/** Any JSON, which is parsed later; it has no bytes. */
export const anyJson: Schema<unknown> = jsonOnly('text', (json) => json)

/** An object as a map: its member names are parsed as keys. It has no bytes. */
export function record<K extends string, V>(
  keys: Schema<K>,
  values: Schema<V>,
): Schema<ReadonlyMap<K, V>> {
  return jsonOnly('map', (json) => {
    if (!isJsonObject(json)) throw new Malformed('JSON_TYPE')
    return new Map(Object.entries(json).map(([key, value]) => entry(keys, values, key, value)))
  })
}

function entry<K, V>(keys: Schema<K>, values: Schema<V>, key: string, value: unknown): [K, V] {
  try {
    return [keys.parse(key), values.parse(value)]
  } catch (thrown) {
    throw within(thrown, key)
  }
}

function jsonOnly<T>(kind: Schema<T>['kind'], parse: (json: unknown) => T): Schema<T> {
  return { kind, parse, read: hasNoBytes, write: hasNoBytes, size: hasNoBytes, print: hasNoBytes }
}

function hasNoBytes(): never {
  assert(false, 'a schema of JSON alone has neither bytes nor a printed form')
}

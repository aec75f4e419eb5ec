import type { Hex } from '../../lib/hex.ts'
import { Malformed, type RefusalCode } from './refusal.ts'
import type { Schema } from './schema.ts'

/** Numbers, fixed and variable bytes, and text: the leaves of every protocol type (codec reference 1.1). */

/** An unsigned integer. In JSON, 8, 16 and 32 bits are numbers, 64 bits a decimal string, 256 bits a hexadecimal string. */
export interface UintSchema<T> extends Schema<T> {
  readonly kind: 'uint'
  readonly name: string
  readonly bits: 8 | 16 | 32 | 64 | 256
}

/** Bytes; a hexadecimal string in JSON. `count` is the width of the length prefix; `undefined` for a fixed size. */
export interface BytesSchema<T extends Hex> extends Schema<T> {
  readonly kind: 'bytes'
  readonly name: string
  readonly min: number
  readonly max: number
  readonly count: Width | undefined
}

/** UTF-8 text with a length prefix. */
export interface TextSchema extends Schema<string> {
  readonly kind: 'text'
  readonly name: string
}

/** The width of a count or length. */
export type Width = 'u8' | 'u16' | 'u32'

/** Number of bytes of a count or length. */
export const sizeOfWidth = { u8: 1, u16: 2, u32: 4 } as const

/** An integer of up to 32 bits. */
export function uint(name: string, bits: 8 | 16 | 32, about?: string): UintSchema<number> {
  const max = 2 ** bits - 1
  const method = `u${bits}` as const
  return {
    kind: 'uint',
    name,
    bits,
    ...(about === undefined ? {} : { about }),
    read: bits === 8 ? (r) => r.u8() : bits === 16 ? (r) => r.u16() : (r) => r.u32(),
    write: (w, value) => w[method](value),
    size: () => bits / 8,
    parse: (json) => {
      if (typeof json !== 'number' || !Number.isInteger(json) || json < 0 || json > max) {
        throw new Malformed('JSON_NUMBER')
      }
      // JSON can contain -0, which would be printed as 0.
      if (Object.is(json, -0)) throw new Malformed('JSON_NUMBER')
      return json
    },
    print: (value) => value,
  }
}

/** An integer of 64 bits. */
export function uint64(name: string, about?: string): UintSchema<bigint> {
  return {
    kind: 'uint',
    name,
    bits: 64,
    ...(about === undefined ? {} : { about }),
    read: (r) => r.u64(),
    write: (w, value) => w.u64(value),
    size: () => 8,
    parse: (json) => {
      if (typeof json !== 'string' || json.length > 400 || !/^[0-9]+$/.test(json))
        throw new Malformed('JSON_U64')
      const value = BigInt(json)
      if (value >> 64n !== 0n) throw new Malformed('JSON_U64')
      return value
    },
    print: (value) => value.toString(),
  }
}

/** An integer of 256 bits. */
export function uint256(name: string): UintSchema<bigint> {
  return {
    kind: 'uint',
    name,
    bits: 256,
    read: (r) => r.u256(),
    write: (w, value) => w.u256(value),
    size: () => 32,
    parse: (json) => {
      if (typeof json !== 'string' || !/^0x(0|[1-9a-fA-F][0-9a-fA-F]{0,63})$/.test(json)) {
        throw new Malformed('JSON_U256')
      }
      return BigInt(json)
    },
    print: (value) => `0x${value.toString(16)}`,
  }
}

/** Exactly `size` bytes, such as a hash, an identifier or a key. */
export function fixedBytes<T extends Hex = Hex>(
  name: string,
  size: number,
  about?: string,
): BytesSchema<T> {
  return {
    kind: 'bytes',
    name,
    min: size,
    max: size,
    count: undefined,
    ...(about === undefined ? {} : { about }),
    read: (r) => r.hex(size) as T,
    write: (w, value) => w.hex(value),
    size: () => size,
    parse: (json) => {
      const hex = parseHex(json)
      if (hex.length !== 2 + 2 * size) throw new Malformed('JSON_HEX_LENGTH')
      return hex as T
    },
    print: (value) => value,
  }
}

/** Limits of bytes of variable length. */
export interface VariableBytes {
  readonly count: Width
  readonly min?: number
  readonly max: number
  /** The rule that a length out of range breaks. */
  readonly length: RefusalCode
  /** Whether JSON leaves out empty bytes. */
  readonly omitEmpty?: boolean
  /** The rule that a trailing zero byte breaks, at any length. */
  readonly trailingZero?: RefusalCode
  /** A rule over the bytes themselves that only the official SDK has. */
  readonly brokenForSdk?: (value: Hex) => RefusalCode | undefined
  readonly about?: string
}

/** Bytes with a length prefix; the length is checked before the bytes are read. */
export function bytes(name: string, options: VariableBytes): BytesSchema<Hex> {
  const { count, min = 0, max, length, trailingZero, omitEmpty = false } = options
  return {
    kind: 'bytes',
    name,
    min,
    max,
    count,
    mayBeAbsent: omitEmpty,
    ...(options.about === undefined ? {} : { about: options.about }),
    ...(options.brokenForSdk === undefined ? {} : { brokenForSdk: options.brokenForSdk }),
    read: (r) => {
      const at = r.at
      const size = r[count]()
      if (trailingZero !== undefined && size > 0 && r.buf[r.at + size - 1] === 0) {
        throw new Malformed(trailingZero, at)
      }
      if (size < min || size > max) throw new Malformed(length, at)
      return r.hex(size)
    },
    write: (w, value) => {
      w[count]((value.length - 2) / 2)
      w.hex(value)
    },
    size: (value) => sizeOfWidth[count] + (value.length - 2) / 2,
    parse: (json) => {
      if (json === undefined && omitEmpty) return '0x'
      const value = parseHex(json)
      const size = (value.length - 2) / 2
      if (trailingZero !== undefined && size > 0 && value.endsWith('00')) {
        throw new Malformed(trailingZero)
      }
      if (size < min || size > max) throw new Malformed(length)
      return value
    },
    print: (value) => (omitEmpty && value === '0x' ? undefined : value),
  }
}

/** Text with a one-byte length prefix, which counts bytes of UTF-8. */
export function text(name: string): TextSchema {
  return {
    kind: 'text',
    name,
    read: (r) => {
      const size = r.u8()
      const at = r.take(size)
      const value = r.buf.toString('utf8', at, at + size)
      // Invalid UTF-8 decodes to replacement characters, whose bytes differ.
      if (!Buffer.from(value).equals(r.buf.subarray(at, at + size))) {
        throw new Malformed('BIN_TEXT', at)
      }
      return value
    },
    write: (w, value) => {
      const size = Buffer.byteLength(value)
      w.u8(size)
      const at = w.room(size)
      w.buf.write(value, at, 'utf8')
    },
    size: (value) => 1 + Buffer.byteLength(value),
    parse: (json) => {
      if (typeof json !== 'string') throw new Malformed('JSON_TYPE')
      const bytes = Buffer.from(json)
      if (bytes.length > 255) throw new Malformed('TEXT_LENGTH')
      // An unpaired surrogate has no UTF-8 encoding.
      if (bytes.toString() !== json) throw new Malformed('BIN_TEXT')
      return json
    },
    print: (value) => value,
  }
}

/** Parses `0x` and whole bytes with digits in either case; returns lower case. */
function parseHex(json: unknown): Hex {
  if (typeof json !== 'string' || json.length % 2 !== 0) throw new Malformed('JSON_HEX')
  if (/^0x[0-9a-f]*$/.test(json)) return json as Hex
  if (/^0x[0-9a-fA-F]*$/.test(json)) return json.toLowerCase() as Hex
  throw new Malformed('JSON_HEX')
}

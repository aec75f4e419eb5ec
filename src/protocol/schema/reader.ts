import type { Hex } from '../../lib/hex.ts'
import { Malformed } from './refusal.ts'

/**
 * The numbering of the type codes in the bytes: that of all published clients (`released`), or that of the service document
 * (`documented`), which has other codes for context inputs and the NFT unlock.
 */
export type Numbering = 'released' | 'documented'

/** Reads little-endian values from bytes in sequence; throws `Malformed` at the end of the bytes. */
export class Reader {
  readonly buf: Buffer
  readonly #view: DataView
  /** Position of the next byte. */
  at = 0
  readonly end: number
  readonly numbering: Numbering
  /** Whether a part whose codes differ between the numberings was read completely. */
  isNumberingSure = false

  constructor(bytes: Uint8Array, numbering: Numbering = 'released') {
    this.numbering = numbering
    this.buf = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.end = bytes.byteLength
  }

  /** Skips `size` bytes and returns their position. */
  take(size: number): number {
    const at = this.at
    if (size > this.end - at) throw new Malformed('BIN_EOF', at)
    this.at = at + size
    return at
  }

  u8(): number {
    return this.#view.getUint8(this.take(1))
  }

  u16(): number {
    return this.#view.getUint16(this.take(2), true)
  }

  u32(): number {
    return this.#view.getUint32(this.take(4), true)
  }

  u64(): bigint {
    return this.#view.getBigUint64(this.take(8), true)
  }

  u256(): bigint {
    const at = this.take(32)
    let size = 32
    while (size > 8 && this.buf[at + size - 1] === 0) size--
    if (size === 8) return this.#view.getBigUint64(at, true)
    // Through hexadecimal text: composing the value from 64-bit words would create two numbers for each step.
    for (let i = 0; i < size; i++) {
      digits[i] = digitsOfByte[this.buf[at + size - 1 - i] ?? 0] ?? 0
    }
    return BigInt(hexText.toString('latin1', 0, 2 + 2 * size))
  }

  /** Reads `size` bytes as hexadecimal text. */
  hex(size: number): Hex {
    const at = this.take(size)
    if (size > maxShortHex) return `0x${this.buf.toString('hex', at, at + size)}`
    for (let i = 0; i < size; i++) digits[i] = digitsOfByte[this.buf[at + i] as number] as number
    return hexText.toString('latin1', 0, 2 + 2 * size) as Hex
  }

  /** Returns the next byte, a type code, without skipping it. */
  peek(): number {
    if (this.at >= this.end) throw new Malformed('BIN_EOF', this.at)
    return this.#view.getUint8(this.at)
  }
}

// Most of a block are identifiers. Created with their `0x` in one piece, they take a third less memory than a concatenation
// of two strings, which the first comparison would have to flatten.
const maxShortHex = 64
const hexText = Buffer.alloc(2 + 2 * maxShortHex, '0x')
const digits = new Uint16Array(hexText.buffer, hexText.byteOffset + 2, maxShortHex)
const digitsOfByte = digitTable()

/** The two hexadecimal digits of each byte value, in the byte order of this machine. */
function digitTable(): Uint16Array {
  const text = Buffer.alloc(512)
  for (let byte = 0; byte < 256; byte++) text.write(byte.toString(16).padStart(2, '0'), 2 * byte)
  return new Uint16Array(text.buffer, text.byteOffset, 256)
}

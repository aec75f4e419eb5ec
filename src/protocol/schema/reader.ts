import type { Hex } from '../../lib/hex.ts'
import { Malformed } from './refusal.ts'

/**
 * Which type codes the bytes have: those of every published client, or those of the service document, which
 * numbers context inputs and the NFT unlock otherwise.
 */
export type Numbering = 'released' | 'documented'

/** Reads little-endian values off bytes, one after the other; never past the end. */
export class Reader {
  readonly buf: Buffer
  readonly #view: DataView
  /** The next byte to read. */
  at = 0
  readonly end: number
  readonly numbering: Numbering
  /** Whether a part that has other codes in the other numbering was read to its end. */
  isNumberingSure = false

  constructor(bytes: Uint8Array, numbering: Numbering = 'released') {
    this.numbering = numbering
    this.buf = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.end = bytes.byteLength
  }

  /** Passes over `size` bytes and gives where they began. */
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
    // Put together of words, every step would make two numbers.
    for (let i = 0; i < size; i++) {
      digits[i] = digitsOfByte[this.buf[at + size - 1 - i] ?? 0] ?? 0
    }
    return BigInt(hexText.toString('latin1', 0, 2 + 2 * size))
  }

  /** `size` bytes as text. */
  hex(size: number): Hex {
    const at = this.take(size)
    if (size > longestId) return `0x${this.buf.toString('hex', at, at + size)}`
    for (let i = 0; i < size; i++) digits[i] = digitsOfByte[this.buf[at + i] as number] as number
    return hexText.toString('latin1', 0, 2 + 2 * size) as Hex
  }

  /** The type byte that comes next, without passing over it. */
  peek(): number {
    if (this.at >= this.end) throw new Malformed('BIN_EOF', this.at)
    return this.#view.getUint8(this.at)
  }
}

// Identifiers are the most of a block. Written with their `0x` in one piece they take a third less memory than as two
// strings joined, which the first comparison would have to copy together.
const longestId = 64
const hexText = Buffer.alloc(2 + 2 * longestId, '0x')
const digits = new Uint16Array(hexText.buffer, hexText.byteOffset + 2, longestId)
const digitsOfByte = digitTable()

/** Two digits for each byte, in the memory order of this machine. */
function digitTable(): Uint16Array {
  const text = Buffer.alloc(512)
  for (let byte = 0; byte < 256; byte++) text.write(byte.toString(16).padStart(2, '0'), 2 * byte)
  return new Uint16Array(text.buffer, text.byteOffset, 256)
}

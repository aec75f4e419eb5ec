import type { Hex } from '../../lib/hex.ts'
import type { Numbering } from './reader.ts'

/** Writes little-endian values in sequence to a buffer that grows. */
export class Writer {
  /** The buffer. Growing replaces it: call `room` first, then access `buf`. */
  buf: Buffer
  /** The schema of a transaction sets the numbering while it writes, and then restores it. */
  numbering: Numbering = 'released'
  #view: DataView
  #at = 0

  constructor(size: number) {
    this.buf = Buffer.allocUnsafeSlow(size)
    this.#view = new DataView(this.buf.buffer)
  }

  /** Number of bytes written so far. */
  get length(): number {
    return this.#at
  }

  /** Discards the written bytes but keeps the memory. */
  reset(): void {
    this.#at = 0
    this.numbering = 'released'
  }

  /** Reserves `size` bytes and returns their position. */
  room(size: number): number {
    const at = this.#at
    this.#at = at + size
    if (this.#at > this.buf.length) this.#grow(this.#at)
    return at
  }

  u8(value: number): void {
    const at = this.room(1)
    this.buf[at] = value
  }

  u16(value: number): void {
    const at = this.room(2)
    this.#view.setUint16(at, value, true)
  }

  u32(value: number): void {
    const at = this.room(4)
    this.#view.setUint32(at, value, true)
  }

  /** Overwrites four bytes that were reserved earlier. */
  setU32(at: number, value: number): void {
    this.#view.setUint32(at, value, true)
  }

  u64(value: bigint): void {
    const at = this.room(8)
    this.#view.setBigUint64(at, value, true)
  }

  u256(value: bigint): void {
    const at = this.room(32)
    for (let word = 0; word < 4; word++) {
      this.#view.setBigUint64(
        at + 8 * word,
        (value >> BigInt(64 * word)) & 0xffffffffffffffffn,
        true,
      )
    }
  }

  /** Writes the bytes of a hexadecimal text. */
  hex(value: Hex): void {
    const size = (value.length - 2) / 2
    const at = this.room(size)
    this.buf.write(value.slice(2), at, size, 'hex')
  }

  /** Returns a copy of the written bytes. */
  bytes(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.buf.buffer as ArrayBuffer, 0, this.#at).slice()
  }

  #grow(size: number): void {
    const grown = Buffer.allocUnsafeSlow(Math.max(size, 2 * this.buf.length))
    this.buf.copy(grown)
    this.buf = grown
    this.#view = new DataView(grown.buffer)
  }
}

import { assert } from './assert.ts'

/**
 * Short byte strings one after another in blocks of memory. Neither their number nor their total length matters to the garbage
 * collector, which copies texts and objects that live for more than a moment twice.
 */
export interface PackedBytes {
  /** Copies some bytes. Returns their place. */
  add(bytes: Uint8Array): number
  /** The block of a place. The bytes begin at `offsetOf(place)`. */
  blockOf(place: number): Buffer
  lengthOf(place: number): number
  /** The bytes at a place, in memory of the store. */
  at(place: number): Uint8Array
  /** All byte strings in the order in which they were added, in memory of the store. */
  [Symbol.iterator](): Iterator<Uint8Array>
}

/** Creates an empty store. */
export function createPackedBytes(): PackedBytes {
  const blocks: Buffer[] = []
  /** Where the bytes in each block end, except in the last one. */
  const ends: number[] = []
  /** The offset after the last bytes in the last block. */
  let end = 0

  function add(bytes: Uint8Array): number {
    const { length } = bytes
    assert(length <= maxPackedLength, 'packed bytes are short')
    let block = blocks.at(-1) ?? noBytes
    if (end + prefixLength + length > block.length) {
      if (blocks.length > 0) ends.push(end)
      // The first blocks are short, because most slots are.
      block = Buffer.allocUnsafeSlow(Math.min(blockLength, 1_024 * 4 ** blocks.length))
      blocks.push(block)
      end = 0
    }
    const place = (blocks.length - 1) * blockLength + end
    block[end] = length & 255
    block[end + 1] = length >> 8
    block.set(bytes, end + prefixLength)
    end += prefixLength + length
    return place
  }

  const blockOf = (place: number) => blocks[Math.floor(place / blockLength)] ?? noBytes
  const lengthOf = (place: number) => lengthAt(blockOf(place), place % blockLength)

  function at(place: number): Uint8Array {
    const from = offsetOf(place)
    return blockOf(place).subarray(from, from + lengthOf(place))
  }

  function* all(): Generator<Uint8Array> {
    for (const [i, block] of blocks.entries()) {
      const to = i === blocks.length - 1 ? end : (ends[i] ?? 0)
      for (let at = 0; at < to; at += prefixLength + lengthAt(block, at)) {
        yield block.subarray(at + prefixLength, at + prefixLength + lengthAt(block, at))
      }
    }
  }

  return { add, blockOf, lengthOf, at, [Symbol.iterator]: all }
}

/** The offset of bytes in the block of their place. */
export function offsetOf(place: number): number {
  return (place % blockLength) + prefixLength
}

/** The length that precedes the bytes at an offset of a block. */
function lengthAt(block: Buffer, offset: number): number {
  return (block[offset] ?? 0) | ((block[offset + 1] ?? 0) << 8)
}

/**
 * The greatest length of one byte string, which fits into the first block. The longest one is a log entry of a restricted multi address
 * with ten members, which has 390 bytes.
 */
export const maxPackedLength = 1_000

const blockLength = 65_536
/** Bytes of the length before each byte string, the lower one first. */
const prefixLength = 2
const noBytes = Buffer.alloc(0)

import type { FileHandle } from 'node:fs/promises'

/** The bytes of a file one after another, whatever its size: memory has one piece of it. */

/** The bytes are none of a snapshot of iota-core, or mean nothing. */
export class SnapshotFileMalformed extends Error {
  /** The part of the file, and where in the file it is wrong. */
  readonly part: string
  readonly offset: number
  readonly reason: string

  constructor(
    { part, offset }: { readonly part: string; readonly offset: number },
    reason: string,
  ) {
    super(`${reason} (${part}, byte ${offset})`)
    this.name = 'SnapshotFileMalformed'
    this.part = part
    this.offset = offset
    this.reason = reason
  }
}

/** Reads on from a place. */
export interface FileReader {
  /** Where the next byte is. */
  at(): number
  /** Names what is read from here on. */
  enter(part: string): void
  /** Goes on elsewhere. */
  seek(offset: number): void
  /** The next bytes. */
  take(size: number): Promise<Buffer>
  skip(size: number): void
  u8(): Promise<number>
  u32(): Promise<number>
  /** How many elements follow, a number of so many bytes; the rest of the file has room for all of them. */
  count(prefixBytes: 1 | 2 | 4 | 8, leastElementBytes: number): Promise<number>
  /** How many bytes follow, a number of so many bytes. */
  length(prefixBytes: 2 | 4, mostBytes: number): Promise<number>
  /** Bytes behind their length. */
  sized(prefixBytes: 2 | 4, mostBytes: number): Promise<Buffer>
  flag(): Promise<boolean>
  /** Refuses what is at a place, by default the next byte. */
  refuse(reason: string, offset?: number): never
}

/** Reads a file of so many bytes; several may read the same one. */
export function createFileReader(handle: FileHandle, size: number): FileReader {
  let part = ''
  let next = 0
  let chunk = Buffer.alloc(0)
  let chunkAt = 0

  function refuse(reason: string, offset = next): never {
    throw new SnapshotFileMalformed({ part, offset }, reason)
  }

  async function take(length: number): Promise<Buffer> {
    const at = next
    skip(length)
    if (at < chunkAt || next > chunkAt + chunk.length) await fill(at, length)
    return chunk.subarray(at - chunkAt, next - chunkAt)
  }

  function skip(length: number): void {
    if (length > size - next) refuse('the file ends within what begins here')
    next += length
  }

  async function fill(at: number, length: number): Promise<void> {
    const filled = Buffer.allocUnsafe(Math.min(Math.max(length, chunkBytes), size - at))
    for (let count = 0; count < filled.length; ) {
      const { bytesRead } = await handle.read(filled, count, filled.length - count, at + count)
      if (bytesRead === 0) refuse('the file became shorter', at + count)
      count += bytesRead
    }
    chunk = filled
    chunkAt = at
  }

  const number = async (bytes: 1 | 2 | 4) => (await take(bytes)).readUIntLE(0, bytes)

  async function count(prefixBytes: 1 | 2 | 4 | 8, leastElementBytes: number): Promise<number> {
    const at = next
    const counted =
      prefixBytes === 8 ? Number((await take(8)).readBigUInt64LE()) : await number(prefixBytes)
    if (counted * leastElementBytes > size - next) {
      refuse(`${counted} elements have no room in the rest of the file`, at)
    }
    return counted
  }

  async function length(prefixBytes: 2 | 4, mostBytes: number): Promise<number> {
    const at = next
    const given = await number(prefixBytes)
    if (given > mostBytes) refuse(`${given} bytes are more than ${mostBytes}`, at)
    return given
  }

  async function flag(): Promise<boolean> {
    const at = next
    const byte = await number(1)
    if (byte > 1) refuse(`${byte} is neither true nor false`, at)
    return byte === 1
  }

  return {
    at: () => next,
    enter: (name) => {
      part = name
    },
    seek: (offset) => {
      next = offset
    },
    take,
    skip,
    u8: () => number(1),
    u32: () => number(4),
    count,
    length,
    sized: async (prefixBytes, mostBytes) => take(await length(prefixBytes, mostBytes)),
    flag,
    refuse,
  }
}

/** Between two of them the event loop turns. */
const chunkBytes = 65_536

import type { FileHandle } from 'node:fs/promises'

/** Reads a file of any size sequentially, with one chunk in memory. */

/** The bytes are not a snapshot of iota-core, or are invalid. */
export class SnapshotFileMalformed extends Error {
  readonly part: string
  /** Offset of the fault from the beginning of the file. */
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

/** Reads a file from a position on. */
export interface FileReader {
  /** The offset of the next byte. */
  at(): number
  /** Sets the part name for errors from here on. */
  enter(part: string): void
  /** Moves the position. */
  seek(offset: number): void
  /** Reads the next bytes. */
  take(size: number): Promise<Buffer>
  skip(size: number): void
  u8(): Promise<number>
  u32(): Promise<number>
  /** Reads an element count of `prefixBytes` bytes. Throws if the rest of the file cannot hold that many elements. */
  count(prefixBytes: 1 | 2 | 4 | 8, minElementBytes: number): Promise<number>
  /** Reads a length of `prefixBytes` bytes, at most `maxBytes`. */
  length(prefixBytes: 2 | 4, maxBytes: number): Promise<number>
  /** Reads a length, and that many bytes. */
  sized(prefixBytes: 2 | 4, maxBytes: number): Promise<Buffer>
  flag(): Promise<boolean>
  /** Throws `SnapshotFileMalformed` for an offset, by default the offset of the next byte. */
  refuse(reason: string, offset?: number): never
}

/** Creates a reader of a file of `size` bytes. Several readers may share a file. */
export function createFileReader(handle: FileHandle, size: number): FileReader {
  let part = ''
  let next = 0
  const read = createChunkedReads(handle, size, refuse)

  function refuse(reason: string, offset = next): never {
    throw new SnapshotFileMalformed({ part, offset }, reason)
  }

  async function take(length: number): Promise<Buffer> {
    const at = next
    skip(length)
    return read(at, length)
  }

  function skip(length: number): void {
    if (length > size - next) refuse('the file ends before the end of this value')
    next += length
  }

  const at = () => next
  return {
    at,
    enter: (name) => {
      part = name
    },
    seek: (offset) => {
      next = offset
    },
    take,
    skip,
    ...createValueReads({ at, left: () => size - next, take, refuse }),
    refuse,
  }
}

/** Reads ranges of a file through one chunk in memory. */
function createChunkedReads(handle: FileHandle, size: number, refuse: FileReader['refuse']) {
  let chunk = Buffer.alloc(0)
  let chunkAt = 0

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

  return async (at: number, length: number): Promise<Buffer> => {
    if (at < chunkAt || at + length > chunkAt + chunk.length) await fill(at, length)
    return chunk.subarray(at - chunkAt, at + length - chunkAt)
  }
}

/** Size of a chunk. The event loop turns between two chunks. */
const chunkBytes = 65_536

interface ValueReadsDeps extends Pick<FileReader, 'at' | 'take' | 'refuse'> {
  /** Number of bytes in the rest of the file. */
  left(): number
}

/** Reads numbers, and the elements and bytes that they count. */
function createValueReads({ at, left, take, refuse }: ValueReadsDeps) {
  const number = async (bytes: 1 | 2 | 4) => (await take(bytes)).readUIntLE(0, bytes)

  async function count(prefixBytes: 1 | 2 | 4 | 8, minElementBytes: number): Promise<number> {
    const from = at()
    const counted =
      prefixBytes === 8 ? Number((await take(8)).readBigUInt64LE()) : await number(prefixBytes)
    if (counted * minElementBytes > left()) {
      refuse(`the rest of the file has no room for ${counted} elements`, from)
    }
    return counted
  }

  async function length(prefixBytes: 2 | 4, maxBytes: number): Promise<number> {
    const from = at()
    const read = await number(prefixBytes)
    if (read > maxBytes) refuse(`${read} bytes are more than ${maxBytes}`, from)
    return read
  }

  async function flag(): Promise<boolean> {
    const from = at()
    const byte = await number(1)
    if (byte > 1) refuse(`${byte} is neither true nor false`, from)
    return byte === 1
  }

  return {
    u8: () => number(1),
    u32: () => number(4),
    count,
    length,
    sized: async (prefixBytes: 2 | 4, maxBytes: number) =>
      take(await length(prefixBytes, maxBytes)),
    flag,
  }
}

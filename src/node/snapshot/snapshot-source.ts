import { createReadStream } from 'node:fs'
import { linesOf } from '../../lib/lines.ts'
import { SnapshotFileMalformed } from './iota-core/file-reader.ts'
import { isWrittenByIotaCore } from './iota-core/open-file.ts'
import { linesOfIotaCore, SnapshotOfGenesis } from './iota-core/snapshot-lines.ts'
import type { SnapshotInvalid } from './snapshot-errors.ts'
import { positionText, type SnapshotPosition, splitLine } from './snapshot-format.ts'

/** Where the lines of a snapshot come from. Whatever the other side does, a line ends in time and takes bounded memory. */

/** A file, or a gateway. */
export interface SnapshotSource {
  /** The lines from a position on, by default all. Throws where they end by a fault. */
  lines(from: SnapshotPosition | undefined): AsyncIterable<string>
  /** Whether a fault may pass, so that it is worth to ask again. */
  readonly isRemote: boolean
}

/** The other side does not have what would follow; it may have a newer snapshot. */
export class SnapshotGone extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'SnapshotGone'
  }
}

/** The lines end in the middle of one. */
export class SnapshotCut extends Error {
  constructor() {
    super('the last line is cut off')
    this.name = 'SnapshotCut'
  }
}

/** What a failure says of the snapshot itself; `undefined` where its lines could not be had. */
export function invalidBy(failure: unknown): SnapshotInvalid | undefined {
  if (failure instanceof SnapshotOfGenesis) return { code: 'SNAPSHOT_OF_GENESIS' }
  if (!(failure instanceof SnapshotFileMalformed)) return undefined
  const { part, offset, reason } = failure
  return { code: 'SNAPSHOT_FILE_MALFORMED', part, offset, reason }
}

/** The source that a setting names: a URL of a gateway, or the path of a file. */
export function snapshotSource(setting: string): SnapshotSource {
  return /^https?:\/\//.test(setting)
    ? { lines: (from) => fetchLines(setting, from), isRemote: true }
    : { lines: (from) => fileLines(setting, from), isRemote: false }
}

/** The lines of the file, or those that a file of iota-core means, behind the one that the position is of. */
async function* fileLines(
  path: string,
  from: SnapshotPosition | undefined,
): AsyncGenerator<string> {
  const lines = (await isWrittenByIotaCore(path))
    ? linesOfIotaCore(path)
    : linesOf(bounded(createReadStream(path)))
  let isReached = from === undefined
  for await (const line of lines) {
    if (isReached) yield line
    else isReached = splitLine(line)?.check === from?.check
  }
  if (!isReached) throw new SnapshotGone('the file is not the one that was begun')
}

async function* fetchLines(
  url: string,
  from: SnapshotPosition | undefined,
): AsyncGenerator<string> {
  const query = from === undefined ? '' : `?from=${encodeURIComponent(positionText(from))}`
  const stalled = new AbortController()
  const timer = setTimeout(() => stalled.abort(new Error(`silent for ${stallMs} ms`)), stallMs)
  try {
    const response = await fetch(`${url}/api/gateway/v1/snapshot${query}`, {
      headers: { accept: 'application/x-ndjson' },
      redirect: 'error',
      signal: stalled.signal,
    })
    if (response.status === 410) throw new SnapshotGone('the gateway no longer has it')
    if (response.status !== 200 || response.body === null) {
      await response.body?.cancel()
      throw new Error(`the gateway answers with ${response.status}`)
    }
    yield* linesOf(bounded(response.body, () => timer.refresh()))
  } finally {
    clearTimeout(timer)
  }
}

/** The same chunks, until a line is longer than any line of a snapshot. */
async function* bounded(
  chunks: AsyncIterable<Uint8Array>,
  onChunk: () => void = () => {},
): AsyncGenerator<Uint8Array> {
  let length = 0
  for await (const chunk of chunks) {
    onChunk()
    const end = chunk.lastIndexOf(10)
    length = end === -1 ? length + chunk.length : chunk.length - end - 1
    if (length > mostLineBytes) throw new Error(`a line is longer than ${mostLineBytes} bytes`)
    yield chunk
  }
  if (length > 0) throw new SnapshotCut()
}

const stallMs = 30_000

/** 500 outputs of 32 kilobytes, two digits a byte. */
const mostLineBytes = 40_000_000

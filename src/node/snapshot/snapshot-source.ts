import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { linesOf } from '../../lib/lines.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { messageIn } from '../../lib/thrown.ts'
import { SnapshotFileMalformed } from './iota-core/file-reader.ts'
import { isWrittenByIotaCore } from './iota-core/open-file.ts'
import { linesOfIotaCore, SnapshotOfGenesis } from './iota-core/snapshot-lines.ts'
import type { SnapshotAway, SnapshotInvalid } from './snapshot-errors.ts'
import { positionText, type SnapshotPosition, splitLine } from './snapshot-format.ts'

/** Sources of snapshot lines. A line has a deadline and a size limit, whatever the source does. */

/** A file, or a gateway. */
export interface SnapshotSource {
  /** The lines after a position, by default all lines. Throws when the source fails. */
  lines(from: SnapshotPosition | undefined): AsyncIterable<string>
  /** Whether a failure may be temporary, so that a retry makes sense. */
  readonly isRemote: boolean
}

/** The source no longer has the rest of this snapshot. It may have a newer snapshot. */
export class SnapshotGone extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'SnapshotGone'
  }
}

/** The source ends before the snapshot does. */
export class SnapshotCut extends Error {
  constructor() {
    super('the last line is cut off')
    this.name = 'SnapshotCut'
  }
}

/** The fault of the snapshot that a failure reports; `undefined` if the failure is a fault of the source. */
export function invalidBy(failure: unknown): SnapshotInvalid | undefined {
  if (failure instanceof SnapshotOfGenesis) return { code: 'SNAPSHOT_OF_GENESIS' }
  if (!(failure instanceof SnapshotFileMalformed)) return undefined
  const { part, offset, reason } = failure
  return { code: 'SNAPSHOT_FILE_MALFORMED', part, offset, reason }
}

/** Creates the source that a setting names: URL of a gateway, or path of a file. */
export function snapshotSource(setting: string): SnapshotSource {
  return /^https?:\/\//.test(setting)
    ? { lines: (from) => fetchLines(setting, from), isRemote: true }
    : { lines: (from) => fileLines(setting, from), isRemote: false }
}

/** Reads one byte of a file that may be too large to be read as a whole. Returns why it cannot be read. */
export async function checkSnapshotFile(
  path: string,
): Promise<Result<undefined, SnapshotAway & { readonly path: string }>> {
  try {
    const file = await open(path)
    await file.read({ length: 1 }).finally(() => file.close())
    return ok(undefined)
  } catch (failure) {
    return err({ code: 'SNAPSHOT_AWAY', path, reason: messageIn(failure) })
  }
}

/** The lines of a file after the position. A file of iota-core is converted to lines. */
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
  if (!isReached) throw new SnapshotGone('the file is not the file that the transfer began with')
}

async function* fetchLines(
  url: string,
  from: SnapshotPosition | undefined,
): AsyncGenerator<string> {
  const query = from === undefined ? '' : `?from=${encodeURIComponent(positionText(from))}`
  const stalled = new AbortController()
  const timer = setTimeout(
    () => stalled.abort(new Error(`the gateway sent nothing for ${stallMs} ms`)),
    stallMs,
  )
  try {
    const response = await fetch(`${url}/api/gateway/v1/snapshot${query}`, {
      headers: { accept: 'application/x-ndjson' },
      redirect: 'error',
      signal: stalled.signal,
    })
    if (response.status === 410) throw new SnapshotGone('the gateway no longer has this snapshot')
    if (response.status !== 200 || response.body === null) {
      await response.body?.cancel()
      throw new Error(`the gateway responded with status ${response.status}`)
    }
    yield* linesOf(bounded(response.body, () => timer.refresh()))
  } finally {
    clearTimeout(timer)
  }
}

/** Passes the chunks through. Throws when a line is longer than any line of a snapshot, or when the last line is cut off. */
async function* bounded(
  chunks: AsyncIterable<Uint8Array>,
  onChunk: () => void = () => {},
): AsyncGenerator<Uint8Array> {
  let length = 0
  for await (const chunk of chunks) {
    onChunk()
    const end = chunk.lastIndexOf(10)
    length = end === -1 ? length + chunk.length : chunk.length - end - 1
    if (length > maxLineBytes) throw new Error(`a line is longer than ${maxLineBytes} bytes`)
    yield chunk
  }
  if (length > 0) throw new SnapshotCut()
}

const stallMs = 30_000

/** 500 outputs of 32 kilobytes, at two digits per byte. */
const maxLineBytes = 40_000_000

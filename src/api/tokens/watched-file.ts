import { readFile, stat } from 'node:fs/promises'
import { withoutByteOrderMark } from '../../lib/byte-order-mark.ts'
import type { Log } from '../../lib/log.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { messageIn } from '../../lib/thrown.ts'

/** A file of the operator that is reloaded whenever it changes. */

/** The last valid content of a watched file. */
export interface WatchedFile<T> {
  current(): T
  close(): void
}

/** The failure to load a file of the operator at startup. */
export interface TokenFileUnusable {
  readonly code: 'TOKEN_FILE_UNUSABLE'
  readonly path: string
  readonly reason: string
}

/** The file, and how to parse it. */
export interface WatchedFileOptions<T> {
  readonly path: string
  readonly log: Log
  /** Returns the content, or what is wrong with the text. */
  readonly parse: (text: string) => Result<T, string>
  /** Called after the file has changed. */
  readonly onChange?: () => void
}

/** Polling interval in milliseconds. Polling is needed because remote and mounted files emit no file system events. */
const everyMs = 500

/** Loads a file, and watches it. A later file that is missing or invalid is logged once, and the last valid content stays in use. */
export async function watchFile<T>(
  options: WatchedFileOptions<T>,
): Promise<Result<WatchedFile<T>, TokenFileUnusable>> {
  const { path, log, onChange } = options
  const first = await load(options)
  if (!first.ok) return err({ code: 'TOKEN_FILE_UNUSABLE', path, reason: first.error })
  let loaded = first.value
  let fault: string | undefined
  let isChecking = false

  async function check(): Promise<void> {
    if (isChecking) return
    isChecking = true
    const found = await load(options, loaded)
    isChecking = false
    const reason = found.ok ? undefined : found.error
    if (reason !== undefined && reason !== fault) log.error('token-file-unusable', { path, reason })
    const isUsual = fault === undefined
    fault = reason
    // A file that was missing may be back as it was.
    if (!found.ok || (isUsual && found.value === loaded)) return
    loaded = found.value
    log.info('token-file-read', { path })
    onChange?.()
  }

  const timer = setInterval(() => void check(), everyMs)
  timer.unref()
  return ok({ current: () => loaded.content, close: () => clearInterval(timer) })
}

interface Loaded<T> {
  readonly content: T
  /** A text that differs after every change of the file. */
  readonly state: string
}

/** Returns `former` if the file has not changed. */
async function load<T>(
  { path, parse }: WatchedFileOptions<T>,
  former?: Loaded<T>,
): Promise<Result<Loaded<T>, string>> {
  try {
    // Read before the text, so that a change during the read leads to another state.
    const { mtimeNs, ctimeNs, ino, size, mode } = await stat(path, { bigint: true })
    const state = [mtimeNs, ctimeNs, ino, size].join(' ')
    if (state === former?.state) return ok(former)
    if (isWritableByOthers(Number(mode))) return err('users of other groups may write to it')
    const content = parse(withoutByteOrderMark(await readFile(path, 'utf8')))
    return content.ok ? ok({ content: content.value, state }) : content
  } catch (thrown) {
    // A file system error: for the operator to repair, not a bug.
    return err(messageIn(thrown))
  }
}

/** Whether other users may write to the file: a user who can write it controls access. Windows has no modes. */
function isWritableByOthers(mode: number): boolean {
  return process.platform !== 'win32' && (mode & 0o002) !== 0
}

import { readFile, stat } from 'node:fs/promises'
import type { Log } from '../lib/log.ts'
import { err, ok, type Result } from '../lib/result.ts'

/** A file of the operator that is read again whenever it changes. */

/** The last good content of such a file. */
export interface WatchedFile<T> {
  current(): T
  close(): void
}

/** Why a file of the operator is not taken at the start. */
export interface TokenFileUnusable {
  readonly code: 'TOKEN_FILE_UNUSABLE'
  readonly path: string
  readonly reason: string
}

/** Which file, and what it holds. */
export interface WatchedFileOptions<T> {
  readonly path: string
  readonly log: Log
  /** The content, or what is wrong with the text. */
  readonly parse: (text: string) => Result<T, string>
  /** Called after the file has changed. */
  readonly onChange?: () => void
}

/** Files of other machines and mounted ones have no events of the system, so the file is asked for its state. */
const everyMs = 500

/** Opens a file. Later on a file that is gone or wrong is logged once, and the last good content stays. */
export async function watchFile<T>(
  options: WatchedFileOptions<T>,
): Promise<Result<WatchedFile<T>, TokenFileUnusable>> {
  const { path, log, onChange } = options
  const first = await load(options)
  if (!first.ok) return err({ code: 'TOKEN_FILE_UNUSABLE', path, reason: first.error })
  let loaded = first.value
  let fault: string | undefined
  let isLooking = false

  async function look(): Promise<void> {
    if (isLooking) return
    isLooking = true
    const found = await load(options, loaded)
    isLooking = false
    const reason = found.ok ? undefined : found.error
    if (reason !== undefined && reason !== fault) log.error('token-file-unusable', { path, reason })
    fault = reason
    if (!found.ok || found.value === loaded) return
    loaded = found.value
    log.info('token-file-read', { path })
    onChange?.()
  }

  const timer = setInterval(() => void look(), everyMs)
  timer.unref()
  return ok({ current: () => loaded.content, close: () => clearInterval(timer) })
}

interface Loaded<T> {
  readonly content: T
  /** Differs after every change. */
  readonly state: string
}

/** Gives `former` where the file has not changed. */
async function load<T>(
  { path, parse }: WatchedFileOptions<T>,
  former?: Loaded<T>,
): Promise<Result<Loaded<T>, string>> {
  try {
    // Before the text: a change while it is read differs from this state.
    const { mtimeNs, ctimeNs, ino, size, mode } = await stat(path, { bigint: true })
    const state = [mtimeNs, ctimeNs, ino, size].join(' ')
    if (state === former?.state) return ok(former)
    if (isWritableByOthers(Number(mode))) return err('users of other groups may write to it')
    const content = parse(await readFile(path, 'utf8'))
    return content.ok ? ok({ content: content.value, state }) : content
  } catch (thrown) {
    // The disk says no: for the operator to repair, not a bug.
    return err(thrown instanceof Error ? thrown.message : String(thrown))
  }
}

/** Anybody who writes to such a file decides who is let in. Windows has no such modes. */
function isWritableByOthers(mode: number): boolean {
  return process.platform !== 'win32' && (mode & 0o002) !== 0
}

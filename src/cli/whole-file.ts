import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type close, createWriteStream, lstatSync, write as writeBytes, writev } from 'node:fs'
import {
  access,
  constants,
  link,
  open,
  readdir,
  realpath,
  rename,
  rm,
  stat,
} from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Writable } from 'node:stream'
import { hasEnded, nameOfThisProcess } from '../node/lease-holder.ts'

/** The file to write. */
export interface WholeFile {
  readonly path: string
  /** Whether the file replaces another one that has the path when it is complete. */
  readonly existing: 'KEPT' | 'REPLACED'
}

/**
 * Writes a file that exists only when it is complete and on disk. `write` gets a stream to it, and its temporary name, and resolves to a
 * message if that fails. The temporary name belongs to this call alone, so commands with the same path do not disturb each other.
 */
export async function writeWholeFile(
  { path: given, existing }: WholeFile,
  write: (out: Writable, part: string) => Promise<string | undefined>,
): Promise<string | undefined> {
  // A symbolic link stays, and the file that it names is replaced, as by every program that writes through the link.
  const path = existing === 'REPLACED' ? await realpath(given).catch(() => given) : given
  // SQLite would not say which of its two files it cannot open.
  await access(dirname(path), constants.W_OK)
  const owner = nameOfThisProcess().replaceAll(':', '_')
  const part = `${path}.${owner}_${randomUUID().slice(0, 8)}.part`
  const file = await open(part, 'wx')
  const out = createWriteStream(part, { fd: file.fd, fs: fsWithoutClose })
  try {
    const { mtimeMs } = await file.stat()
    await removeLeftovers(path, mtimeMs)
    const problem = await write(out, part)
    if (problem !== undefined) return problem
    if (!out.writableEnded) out.end()
    if (!out.writableFinished) await once(out, 'finish')
    await file.sync()
    if (existing === 'REPLACED') await rename(part, path)
    else if (!(await isNamed(part, path))) return `${path} already exists`
    const folder = await open(dirname(path), 'r')
    await folder.sync().finally(() => folder.close())
    return undefined
  } finally {
    await file.close()
    // SQLite leaves its other files when the disk is full.
    await Promise.all(endings.map((end) => rm(part + end, { force: true })))
  }
}

/** Endings of the temporary file, and of the files that SQLite and the gateway create beside it. */
const endings = ['', '-journal', '-wal', '-shm', '-reserve']

/** Gives a file its name. Returns `false` if another file has that name: unlike `rename`, `link` replaces nothing. */
async function isNamed(part: string, path: string): Promise<boolean> {
  try {
    await link(part, path)
  } catch {
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return false
    // Some file systems, such as FAT, have no links.
    await rename(part, path)
  }
  return true
}

/**
 * Removes the temporary files of commands with the same path that were killed. Whether a command in another container or on another
 * machine was killed is unknown, so its files are removed when it has written nothing for a day. `nowMs` is by the clock of the disk.
 */
async function removeLeftovers(path: string, nowMs: number): Promise<void> {
  const folder = dirname(path)
  const start = `${basename(path)}.`
  for (const name of await readdir(folder)) {
    const parts = name.startsWith(start) ? leftover.exec(name.slice(start.length)) : null
    if (parts === null) continue
    const [, host, pid, scope, end = ''] = parts
    const part = join(folder, name.slice(0, name.length - end.length))
    if (hasEnded(`${host}:${pid}:${scope}`) || (await isOlder(part, nowMs - dayMs))) {
      await rm(join(folder, name), { force: true })
    }
  }
}

const leftover = new RegExp(`^(.+)_(\\d+)_([0-9a-f]*)_[0-9a-f]{8}\\.part(${endings.join('|')})$`)

/** Whether nothing was written to a temporary file since a time. The files that SQLite creates beside it may be older than it. */
async function isOlder(part: string, ms: number): Promise<boolean> {
  const found = await stat(part).catch(() => undefined)
  return found === undefined || found.mtimeMs < ms
}

const dayMs = 86_400_000

/** A stream closes its file also when it fails, and the number of the file may then be that of another one. */
const fsWithoutClose = {
  write: writeBytes,
  writev,
  close: ((_file, done) => done?.(null)) as typeof close,
}

import { once } from 'node:events'
import { type close, createWriteStream, write as writeBytes, writev } from 'node:fs'
import { access, constants, open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Writable } from 'node:stream'

/**
 * Writes a file that exists only when it is complete and on disk. `write` gets a stream to it, and its temporary name, and resolves to a
 * message if that fails.
 */
export async function writeWholeFile(
  path: string,
  write: (out: Writable, part: string) => Promise<string | undefined>,
): Promise<string | undefined> {
  // SQLite would not say which of its two files it cannot open.
  await access(dirname(path), constants.W_OK)
  const part = `${path}.part`
  // SQLite leaves its other files when the disk is full, or when the command is killed.
  const remove = () =>
    Promise.all(
      ['', '-journal', '-wal', '-shm', '-reserve'].map((end) => rm(part + end, { force: true })),
    )
  await remove()
  const file = await open(part, 'wx')
  const { ino } = await file.stat()
  const out = createWriteStream(part, { fd: file.fd, fs: fsWithoutClose })
  // Another command with the same path removes this file and creates its own.
  const isReplaced = async () => (await stat(part).catch(() => undefined))?.ino !== ino
  const replaced = `another command writes ${path}`
  try {
    const problem = await write(out, part).catch(async (failure: unknown) => {
      if (await isReplaced()) return replaced
      throw failure
    })
    if (problem !== undefined) return problem
    if (!out.writableEnded) out.end()
    if (!out.writableFinished) await once(out, 'finish')
    await file.sync()
    if (await isReplaced()) return replaced
    await rename(part, path)
    const folder = await open(dirname(path), 'r')
    await folder.sync().finally(() => folder.close())
    return undefined
  } finally {
    await file.close()
    if (!(await isReplaced())) await remove()
  }
}

/** A stream closes its file also when it fails, and the number of the file may then be that of another one. */
const fsWithoutClose = {
  write: writeBytes,
  writev,
  close: ((_file, done) => done?.(null)) as typeof close,
}

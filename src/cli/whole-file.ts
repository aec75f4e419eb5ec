import { access, constants, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Writes a file that exists only when it is complete and on disk. `write` creates it under a temporary name, and resolves to a message if
 * that fails.
 */
export async function writeWholeFile(
  path: string,
  write: (part: string) => Promise<string | undefined>,
): Promise<string | undefined> {
  // SQLite would not say which of its two files it cannot open.
  await access(dirname(path), constants.W_OK)
  const part = `${path}.part`
  // A command that was killed may have left this file.
  await rm(part, { force: true })
  try {
    const problem = await write(part)
    if (problem !== undefined) return problem
    await syncToDisk(part)
    await rename(part, path)
    await syncToDisk(dirname(path))
    return undefined
  } finally {
    await rm(part, { force: true })
  }
}

/** Waits until a file, or the directory entries of a folder, survive a power loss. */
async function syncToDisk(path: string): Promise<void> {
  const handle = await open(path, 'r')
  await handle.sync().finally(() => handle.close())
}

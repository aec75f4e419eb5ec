import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'

/** Opens files of SQLite, and reads what they hold. */

/** READ changes nothing; WRITE makes the file where it is missing; WRITE_EXISTING refuses that. */
export type FileUse = 'READ' | 'WRITE' | 'WRITE_EXISTING'

/** A connection to a file, below Prisma; throws where there is no such file, or it is no database. */
export function openFile(
  file: string,
  use: FileUse,
  cacheKibibytes = usualCacheKibibytes,
): DatabaseSync {
  const database = new DatabaseSync(use === 'WRITE_EXISTING' ? existing(file) : file, {
    readOnly: use === 'READ',
    timeout: busyTimeoutMs,
  })
  try {
    database.exec(settings(cacheKibibytes))
  } catch (failure) {
    database.close()
    throw failure
  }
  return database
}

/** How long a statement waits for another process on the same file. It blocks the event loop meanwhile. */
const busyTimeoutMs = 5_000

/** SQLite's own words for it, as the driver has none. */
function existing(file: string): URL {
  return new URL('?mode=rw', pathToFileURL(file))
}

/** Node builds with a cache of 2 MB, and sorts what is large in files. */
const settings = (cacheKibibytes: number) => `
  PRAGMA cache_size = -${cacheKibibytes};
  PRAGMA temp_store = MEMORY`

const usualCacheKibibytes = 16_384

/** The tables of a file; throws if it is no database. */
export function tableNames(file: DatabaseSync): readonly string[] {
  const rows = file.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
  return rows.map(({ name }) => String(name))
}

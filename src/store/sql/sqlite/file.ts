import { accessSync, constants } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'

/** Opens SQLite files and lists their tables. */

/** Mode of a connection. READ is read-only, WRITE creates a missing file, WRITE_EXISTING fails if the file is missing. */
export type FileUse = 'READ' | 'WRITE' | 'WRITE_EXISTING'

/** Opens a connection to a file without Prisma. Throws if the file is missing or is not a database. */
export function openFile(
  file: string,
  use: FileUse,
  cacheKibibytes = defaultCacheKibibytes,
): DatabaseSync {
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(use === 'WRITE_EXISTING' ? existing(file) : file, {
      readOnly: use === 'READ',
      timeout: busyTimeoutMs,
    })
    database.exec(settings(cacheKibibytes))
    return database
  } catch (failure) {
    database?.close()
    throw explained(failure, file)
  }
}

/** Adds the path to the failure to open a file, or the reason if its folder cannot be written. */
function explained(failure: unknown, file: string): unknown {
  if (!(failure instanceof Error && 'errcode' in failure)) return failure
  const { errcode } = failure
  if (mayWrite(dirname(file))) {
    if (unnamed.includes(Number(errcode))) failure.message = `${file}: ${failure.message}`
    return failure
  }
  const reason = `${dirname(file)} cannot be written; SQLite needs other files beside a database, except beside a backup`
  // `errcode` identifies the fault.
  return Object.assign(new Error(reason, { cause: failure }), { errcode })
}

/** SQLITE_CANTOPEN and SQLITE_NOTADB. The messages of SQLite do not name the file. */
const unnamed = [14, 26]

function mayWrite(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Milliseconds for which a statement waits for another process on the same file. It blocks the event loop meanwhile. */
const busyTimeoutMs = 5_000

/** Returns a URI that refuses a missing file. The driver has no option for it. */
function existing(file: string): URL {
  return new URL('?mode=rw', pathToFileURL(file))
}

/** Overrides the defaults of Node's SQLite: a cache of 2 MB, and temporary files for large sorts. */
const settings = (cacheKibibytes: number) => `
  PRAGMA cache_size = -${cacheKibibytes};
  PRAGMA temp_store = MEMORY`

const defaultCacheKibibytes = 16_384

/** Reads the names of the tables of a file. Throws if the file is not a database. */
export function tableNames(file: DatabaseSync): readonly string[] {
  const rows = file.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
  return rows.map(({ name }) => String(name))
}

import { err, ok, type Result } from '../lib/result.ts'
import type { Database, DatabaseOptions } from './database.ts'
import { databaseAddress, databaseUrlForms } from './url.ts'

/** Which database a URL means. */

/** The URL names no database that the program can use. The URL itself is left out, for it may hold a password. */
export interface DatabaseUrlNotSupported {
  readonly code: 'DATABASE_URL_NOT_SUPPORTED'
  readonly expected: string
}

/** The database of a URL. Only its driver and client are loaded, and nothing is opened before the first call. */
export async function databaseOf({
  url,
  wakeUrl,
  log,
  writesOn,
}: DatabaseOptions): Promise<Result<Database, DatabaseUrlNotSupported>> {
  const address = databaseAddress(url)
  if (address === undefined) {
    return err({ code: 'DATABASE_URL_NOT_SUPPORTED', expected: databaseUrlForms })
  }
  if (address.kind === 'sqlite') {
    const { openSqlite } = await import('./sqlite.ts')
    return ok(openSqlite(address.path, log, writesOn))
  }
  const { openPostgresql } = await import('./postgresql.ts')
  return ok(openPostgresql({ url, wakeUrl, log }))
}

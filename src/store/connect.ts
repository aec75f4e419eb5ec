import { err, ok, type Result } from '../lib/result.ts'
import type { Database, DatabaseOptions } from './database.ts'
import { databaseAddress, databaseUrlForms } from './url.ts'

/** Opens the database of a URL. */

/** The URL names no supported database. The error omits the URL, which may contain a password. */
export interface DatabaseUrlNotSupported {
  readonly code: 'DATABASE_URL_NOT_SUPPORTED'
  readonly expected: string
}

/** Creates the database of a URL. Loads only the driver and client that it needs. The first call opens a connection. */
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
    const { openSqlite } = await import('./sqlite/database.ts')
    return ok(openSqlite(address.path, log, writesOn))
  }
  const { openPostgresql } = await import('./postgresql/database.ts')
  return ok(openPostgresql({ url, wakeUrl, log }))
}

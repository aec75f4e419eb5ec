import type { SqlConnection } from '../../connect.ts'

/** What SQLite must be told on each connection. */

/** Readers work beside the writer; holds for the file's life. */
export function useWriteAheadLog(connection: SqlConnection): Promise<void> {
  return connection.executeScript('PRAGMA journal_mode = WAL')
}

/** A commit is on the disk before it is answered; better-sqlite3 builds with less. */
export function syncEveryCommit(connection: SqlConnection): Promise<void> {
  return connection.executeScript('PRAGMA synchronous = FULL')
}

/** Nothing can be written, whatever is asked. */
export function refuseWrites(connection: SqlConnection): Promise<void> {
  return connection.executeScript('PRAGMA query_only = ON')
}

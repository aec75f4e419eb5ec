import type { DatabaseSync } from 'node:sqlite'
import type { SqlConnection } from '../../client.ts'

/** The settings of each connection to SQLite. */

/** Readers work beside the writer; holds for the file's life. */
export function useWriteAheadLog(connection: SqlConnection): Promise<void> {
  return connection.executeScript('PRAGMA journal_mode = WAL')
}

/**
 * A commit is on the disk before it is answered, whatever SQLite was built with. The cache holds the pages of the
 * largest slots, for what it does not hold is written twice. The log is moved by a thread of its own, and by a commit
 * only where that cannot keep up. What a statement would need to undo itself alone stays in memory: by default every
 * page that a bulk statement changes is first copied into a temporary file.
 */
export function settleWriter(connection: SqlConnection): Promise<void> {
  return connection.executeScript(`
    PRAGMA synchronous = FULL;
    PRAGMA temp_store = MEMORY;
    PRAGMA cache_size = -${cacheKibibytes};
    PRAGMA wal_autocheckpoint = ${mostPagesInLog}`)
}

const cacheKibibytes = 65_536

/** 64 MiB. */
const mostPagesInLog = 16_384

/** Makes every write fail. */
export function refuseWrites(connection: SqlConnection): Promise<void> {
  return connection.executeScript('PRAGMA query_only = ON')
}

/** Moves what is in the write-ahead log into the file, without waiting for anybody; how many pages could not be moved. */
export function moveLog(connection: DatabaseSync): number {
  const { log, checkpointed } = connection.prepare('PRAGMA wal_checkpoint(PASSIVE)').get() ?? {}
  return Number(log) - Number(checkpointed)
}

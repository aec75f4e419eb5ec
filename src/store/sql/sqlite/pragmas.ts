import type { DatabaseSync } from 'node:sqlite'
import type { SqlConnection } from '../../client.ts'

/** Settings of connections to SQLite. */

/**
 * Switches the file to a write-ahead log, so that readers and the writer do not block each other. The file keeps this setting, so only
 * connections that write do it: a command that only reads a backup must not change it.
 */
export const useWriteAheadLog = 'PRAGMA journal_mode = WAL'

/**
 * Applies the settings of the writer. A commit is on the disk before it returns, whatever the defaults of the SQLite build are. The cache
 * holds the pages of the largest slots, because a page that does not fit is written twice. A separate thread runs checkpoints, and a
 * commit runs one only if that thread cannot keep up. Statement journals stay in memory: by default, SQLite copies every page that a
 * bulk statement changes into a temporary file first.
 */
export function settleWriter(connection: SqlConnection): Promise<void> {
  return connection.executeScript(`
    ${useWriteAheadLog};
    PRAGMA synchronous = FULL;
    PRAGMA temp_store = MEMORY;
    PRAGMA cache_size = -${cacheKibibytes};
    PRAGMA wal_autocheckpoint = ${maxPagesInLog}`)
}

const cacheKibibytes = 65_536

/** Pages in the write-ahead log before a commit runs a checkpoint: 64 MiB. */
const maxPagesInLog = 16_384

/** Makes every write fail. */
export function refuseWrites(connection: SqlConnection): Promise<void> {
  return connection.executeScript('PRAGMA query_only = ON')
}

/** Runs a checkpoint of the write-ahead log without waiting for other connections. Returns the number of pages that are left. */
export function moveLog(connection: DatabaseSync): number {
  const { log, checkpointed } = connection.prepare('PRAGMA wal_checkpoint(PASSIVE)').get() ?? {}
  return Number(log) - Number(checkpointed)
}

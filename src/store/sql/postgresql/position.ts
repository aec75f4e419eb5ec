/**
 * Reads the position of a server in bytes of the write-ahead log, and whether the server is a standby. On the primary it is the flush
 * position: a commit is acknowledged once it is flushed, and a standby receives only flushed records. It is not the insert position,
 * which at a page border lies after the end of the last record, where a standby that has everything is.
 */
export const lsnText = `SELECT
  (CASE WHEN pg_is_in_recovery() THEN coalesce(pg_last_wal_replay_lsn(), '0/0') ELSE pg_current_wal_flush_lsn() END) - '0/0'::pg_lsn,
  pg_is_in_recovery()`

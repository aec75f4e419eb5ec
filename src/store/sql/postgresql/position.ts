/**
 * How far a server is, in bytes of the write-ahead log, and whether it is a standby. Of the primary what is flushed: a commit is
 * acknowledged once it is, and a standby gets nothing that is not. Not where the next record is inserted, which at the
 * border of a page lies behind the end of the last record, where a standby that has everything stands.
 */
export const lsnText = `SELECT
  (CASE WHEN pg_is_in_recovery() THEN coalesce(pg_last_wal_replay_lsn(), '0/0') ELSE pg_current_wal_flush_lsn() END) - '0/0'::pg_lsn,
  pg_is_in_recovery()`

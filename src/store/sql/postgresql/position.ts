/** SQL of the timeline of a primary. Each promotion of a standby begins another one, with a higher number. */
export const timelineText =
  "('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::bigint"

/**
 * Reads the position of a server in bytes of the write-ahead log, and whether the server is a standby. On the primary it is the flush
 * position: a commit is acknowledged once it is flushed, and a standby receives only flushed records. It is not the insert position,
 * which at a page border lies after the end of the last record, where a standby that has everything is.
 *
 * The timeline counts more than the position in it: a replica that received what the promoted standby did not is beyond the new primary,
 * and yet lacks everything that was written since. A standby does not report the timeline that it replays, so the renewals of the lease
 * write it. A replica is on the timeline of the last renewal that it shows.
 *
 * 2^64 is written as a number, because PostgreSQL 15 returns `2::numeric ^ 64` with 16 decimal places.
 */
export const lsnText = `SELECT
  CASE WHEN pg_is_in_recovery() THEN timeline ELSE CASE WHEN timeline > 0 THEN ${timelineText} ELSE 0 END END * ${2n ** 64n}
    + (CASE WHEN pg_is_in_recovery() THEN coalesce(pg_last_wal_replay_lsn(), '0/0') ELSE pg_current_wal_flush_lsn() END - '0/0'::pg_lsn),
  pg_is_in_recovery()
  FROM (SELECT coalesce((SELECT timeline FROM writer), 0) AS timeline) AS lease`

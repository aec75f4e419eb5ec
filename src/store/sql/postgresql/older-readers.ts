import type { RawTx } from '../../client.ts'
import { maxSnapshotMs } from '../../database.ts'

/**
 * Sessions whose snapshot is older than a point in time. DDL is not part of a snapshot: a query that began before rows were copied or
 * dropped, and reads the log afterwards, would miss rows. So a caller waits until no such query runs, and readers need no lock.
 * `CREATE INDEX CONCURRENTLY` waits in the same way (PostgreSQL manual, "Building Indexes Concurrently").
 */
export interface OlderReaders {
  /**
   * Names one of these sessions that still reads on this server. Each call needs its own transaction, because the view of sessions does
   * not change within a transaction.
   */
  findHere(tx: RawTx): Promise<string | undefined>
  /** Same as `findHere`, but also considers readers on standbys. */
  find(tx: RawTx): Promise<string | undefined>
}

/** Records the sessions that have a snapshot now. */
export async function olderReaders(tx: RawTx): Promise<OlderReaders> {
  const readers = new Set((await readersNow(tx)).map(({ key }) => key))
  const [row] = await tx.$queryRawUnsafe<{ lsn: string }[]>(
    'SELECT pg_current_wal_lsn()::text AS lsn',
  )
  const lsn = row?.lsn ?? '0/0'
  let replayedAt: number | undefined

  /**
   * Names a standby that may still have older readers. This server cannot see them. Once a standby has replayed up to the recorded
   * position, its older snapshots end within the maximum time of a snapshot.
   */
  async function atStandbys(on: RawTx): Promise<string | undefined> {
    const standbys = await on.$queryRawUnsafe<{ name: string | null; lags: boolean | null }[]>(
      `SELECT application_name AS name, state = 'streaming' AND replay_lsn < '${lsn}' AS lags FROM pg_stat_replication`,
    )
    const [first] = standbys
    if (first === undefined) return undefined
    const late = standbys.find(({ lags }) => lags === true)
    if (late !== undefined) return `the standby ${late.name}`
    replayedAt ??= performance.now()
    return performance.now() - replayedAt < maxSnapshotMs
      ? `readers on the standby ${first.name}`
      : undefined
  }

  async function findHere(on: RawTx): Promise<string | undefined> {
    const left = (await readersNow(on)).find(({ key }) => readers.has(key))
    return left && processName(left)
  }

  return { findHere, find: async (on) => (await findHere(on)) ?? (await atStandbys(on)) }
}

interface ReaderNow {
  readonly pid: number
  readonly name: string | null
  readonly key: string
}

/** Excludes sessions that wait for a row lock: they write, and each of their statements has its own snapshot. */
function readersNow(tx: RawTx): Promise<ReaderNow[]> {
  return tx.$queryRawUnsafe<ReaderNow[]>(
    `SELECT pid, application_name AS name, concat_ws(' ', pid, backend_start, xact_start) AS key FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
      AND backend_xmin IS NOT NULL
      AND NOT (wait_event_type = 'Lock' AND wait_event IN ('transactionid', 'tuple'))`,
  )
}

/** Returns the name of a PostgreSQL process for operators. */
export function processName({ pid, name }: { readonly pid: number; readonly name: string | null }) {
  return `process ${pid} of PostgreSQL (${name || 'without a name'})`
}

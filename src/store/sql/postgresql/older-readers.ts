import type { RawTx } from '../../client.ts'
import { mostSnapshotMs } from '../../database.ts'

/**
 * Who reads as of a moment that is over. What DDL changes is not of a snapshot: a query that began before rows were copied or
 * dropped, and comes to the log afterwards, would find rows missing. So it is waited for until there is no such query, and readers
 * need no lock. The same way `CREATE INDEX CONCURRENTLY` waits (PostgreSQL manual, "Building Indexes Concurrently").
 */
export interface OlderReaders {
  /** One of them that still reads here, in words; each is asked on a statement of its own, for a transaction sees what it saw at first. */
  findHere(tx: RawTx): Promise<string | undefined>
  /** The same with those at standbys. */
  find(tx: RawTx): Promise<string | undefined>
}

/** Those of now. */
export async function olderReaders(tx: RawTx): Promise<OlderReaders> {
  const readers = new Set((await readersNow(tx)).map(({ key }) => key))
  const [row] = await tx.$queryRawUnsafe<{ lsn: string }[]>(
    'SELECT pg_current_wal_lsn()::text AS lsn',
  )
  const lsn = row?.lsn ?? '0/0'
  let replayedAt: number | undefined

  /** Readers at a standby are not seen here. Once it has what this server had, its older snapshots are over after their longest time. */
  async function atStandbys(on: RawTx): Promise<string | undefined> {
    const standbys = await on.$queryRawUnsafe<{ name: string | null; lags: boolean | null }[]>(
      `SELECT application_name AS name, state = 'streaming' AND replay_lsn < '${lsn}' AS lags FROM pg_stat_replication`,
    )
    const [first] = standbys
    if (first === undefined) return undefined
    const late = standbys.find(({ lags }) => lags === true)
    if (late !== undefined) return `the standby ${late.name}`
    replayedAt ??= performance.now()
    return performance.now() - replayedAt < mostSnapshotMs
      ? `what reads at the standby ${first.name}`
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

/** Without those who wait for a row: they write, and each of their statements is as of its own moment. */
function readersNow(tx: RawTx): Promise<ReaderNow[]> {
  return tx.$queryRawUnsafe<ReaderNow[]>(
    `SELECT pid, application_name AS name, concat_ws(' ', pid, backend_start, xact_start) AS key FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
      AND backend_xmin IS NOT NULL
      AND NOT (wait_event_type = 'Lock' AND wait_event IN ('transactionid', 'tuple'))`,
  )
}

/** How a process of PostgreSQL is named to an operator. */
export function processName({ pid, name }: { readonly pid: number; readonly name: string | null }) {
  return `process ${pid} of PostgreSQL (${name || 'without a name'})`
}

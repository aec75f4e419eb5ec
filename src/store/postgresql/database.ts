import { fileURLToPath } from 'node:url'
import { PrismaPg } from '@prisma/adapter-pg'
import { Client as Connection, Pool, type PoolConfig } from 'pg'
import { PrismaClient } from '../../generated/postgresql/client.ts'
import { assert } from '../../lib/assert.ts'
import { ok, type Result } from '../../lib/result.ts'
import type { Client, SqlConnection } from '../client.ts'
import type { Database, DatabaseOptions, DatabaseUnusable, Probed } from '../database.ts'
import { createLogForms } from '../partitions/log-forms.ts'
import { partitionedReads } from '../partitions/partitioned-reads.ts'
import { undefinedIfDropped } from '../sql/log-partitions.ts'
import { migrationStatements } from '../sql/postgresql/migrations.ts'
import { formOfRows, formText, partitionStatements } from '../sql/postgresql/partitions.ts'
import { serverFacts } from '../sql/postgresql/server.ts'
import { shardStatements } from '../sql/postgresql/shards.ts'
import { postgresqlStatements } from '../sql/postgresql/statements.ts'
import { tableStatements } from '../sql/postgresql/tables.ts'
import { lockWaitMs } from '../sql/postgresql/transaction.ts'
import { reasonOf, unusable } from '../unusable.ts'
import { connectionTo } from './hosts.ts'
import { lockWaitOf } from './lock-wait.ts'
import { openNotifications } from './notifications.ts'
import { openRawConnection } from './raw.ts'
import { openReads, type PostgresqlReads } from './reads.ts'
import { failUnreplicated } from './unreplicated.ts'

/**
 * Opens the database of a PostgreSQL URL. No setting applies to a whole session, so `url` may lead through a pooler that assigns a
 * server for each transaction. `wakeUrl` bypasses that pooler.
 */
export function openPostgresql({ url, wakeUrl, log, onConnect }: DatabaseOptions): Database {
  const notifications = openNotifications(wakeUrl ?? url, log)
  const connection = connectionTo(url)
  const hook = onConnect && { onConnect }
  let isClosed = false
  const isOpen = () => !isClosed

  // One connection, so that reads of the writer follow its writes.
  const writing = openPool({
    ...connection,
    max: 1,
    // Its reads outside of transactions wait no longer than its transactions.
    onConnect: async (client) => {
      await onConnect?.(client)
      await client.query(lockWaitOf(client, lockWaitMs))
    },
  })
  const reading = openPool({ ...connection, ...hook, max: clientConnections })
  const writer = clientOf(writing, isOpen)
  const reader = clientOf(reading, isOpen)
  const reads = openReads({ ...settings, ...connection, ...hook, max: readConnections })
  const forms = createLogForms(async () => {
    // Tables of an earlier version may lack the published tip. They have no partitions.
    return formOfRows((await undefinedIfDropped(reads.query(formText, []))) ?? [])
  })

  async function close(): Promise<void> {
    if (isClosed) return
    isClosed = true
    await notifications.close()
    await reads.close()
    await reader.$disconnect()
    await writer.$disconnect()
    await reading.end()
    await writing.end()
  }

  return {
    kind: 'postgresql',
    statements: {
      ...postgresqlStatements,
      partitions: partitionStatements(forms),
      shards: shardStatements(forms),
    },
    tables: tableStatements,
    migrations: { path: migrationsPath, statements: migrationStatements },
    probe: () => probeBoth(url, wakeUrl),
    connect: () => connectOnce(url),
    writer,
    raw: openRawConnection(writing),
    reader,
    ...partitionedReads(reads, forms),
    maxSnapshots,
    changes: () => undefined,
    version: async () => String((await reads.query(versionStatement, []))[0]?.[0]),
    space: async () => {
      const [row] = await reads.query('SELECT pg_database_size(current_database())', [])
      return { databaseBytes: Number(row?.[0]), freeBytes: undefined }
    },
    pool: reads.pool,
    listen: notifications.listen,
    close,
  }
}

/** Opens a pool that fails unreplicated commits. */
function openPool(config: PoolConfig): Pool {
  const pool = new Pool({ ...settings, ...config })
  pool.on('connect', failUnreplicated)
  // An idle connection was lost; the pool opens another one.
  return pool.on('error', () => {})
}

/**
 * Creates a client on a connection pool. A transaction uses one connection of it. Prisma names the schema of each table, `public` by
 * default, while the raw statements leave it to the `search_path` of the role, of the database or of the URL.
 */
function clientOf(pool: Pool, isOpen: () => boolean): Client {
  async function connect(): ReturnType<PrismaPg['connect']> {
    assert(isOpen(), 'the store is open')
    const { rows } = await pool.query('SELECT current_schema() AS schema')
    return new PrismaPg(pool, rows[0]).connect()
  }
  const { provider, adapterName } = new PrismaPg(pool)
  return new PrismaClient({ adapter: { provider, adapterName, connect } })
}

/**
 * Returns which transactions a read sees, and on which server. After a failover the new server may reuse the transaction numbers of
 * lost transactions. The snapshot of a standby does not list the running transactions, so the time of the last replayed commit shows that
 * one of them has ended.
 */
const versionStatement = `SELECT concat_ws(' ', pg_current_snapshot(), pg_postmaster_start_time(),
  pg_last_xact_replay_timestamp())`

/** Opens one read connection outside of the pool of the store, because a busy pool does not mean that the server is gone. */
export function openWatch(
  url: string,
  connectionTimeoutMillis: number,
  onConnect?: DatabaseOptions['onConnect'],
): PostgresqlReads {
  const hook = onConnect && { onConnect }
  return openReads({ ...settings, ...connectionTo(url), ...hook, connectionTimeoutMillis, max: 1 })
}

/** Opens one connection that is never replaced: a new connection would not have the state of the old one. */
function connectOnce(url: string): Promise<SqlConnection> {
  let wasConnected = false
  const onConnect = () => {
    if (wasConnected) throw new Error('the connection to the database was lost')
    wasConnected = true
  }
  return new PrismaPg({ ...settings, ...connectionTo(url), max: 1, onConnect }).connect()
}

/** Probes both URLs. Without the probe a wrong `wakeUrl` would go unnoticed, which only carries notifications of other processes. */
async function probeBoth(
  url: string,
  wakeUrl: string | undefined,
): Promise<Result<Probed, DatabaseUnusable>> {
  const usable = await probe(url)
  if (!usable.ok || wakeUrl === undefined) return usable
  const wakeable = await probe(wakeUrl)
  return wakeable.ok ? usable : unusable(`WAKE_DATABASE_URL: ${wakeable.error.reason}`)
}

/** Connects once. Any failure to read the facts of the server means that the database cannot be used. */
async function probe(url: string): Promise<Result<Probed, DatabaseUnusable>> {
  let client: Connection | undefined
  try {
    // The driver reads the files of certificates that the URL names.
    client = new Connection({ ...settings, ...connectionTo(url) })
    // A connection that is lost between two statements emits an event. The next statement fails anyway.
    client.on('error', () => {})
    await client.connect()
    const { encoding, version, hasTables } = await serverFacts(client)
    if (encoding !== 'UTF8') return unusable(`its encoding is ${encoding}, and must be UTF8`)
    if (version < oldestVersion)
      return unusable(`PostgreSQL ${oldestVersion / 10_000} or later is required`)
    return ok(hasTables ? 'TABLES' : 'NOTHING')
  } catch (failure) {
    return unusable(reasonOf(failure))
  } finally {
    // The connection may never have opened, or may be closed already.
    await client?.end().catch(() => {})
  }
}

/** Folder of the migrations, two levels above both `src/store` and `dist/store`. */
const migrationsPath = fileURLToPath(
  new URL('../../../prisma/postgresql/migrations', import.meta.url),
)

/** Read connections of one process. A statement uses one for a few milliseconds. */
const readConnections = 10
/** Read connections that snapshots may hold. The others remain free for single statements. */
const maxSnapshots = 8
/** Connections of the reading client, which is rarely used. */
const clientConnections = 2

const settings = {
  application_name: 'ledger-gateway',
  /** How long a query waits for a connection, new or free. */
  connectionTimeoutMillis: 10_000,
  /** A connection stays until it is lost or the store is closed. */
  idleTimeoutMillis: 0,
  keepAlive: true,
} as const

/** Oldest supported version, in the format of `server_version_num`. `npm run test:oldest` runs tests on it. */
const oldestVersion = 140_000

import { fileURLToPath } from 'node:url'
import { PrismaPg } from '@prisma/adapter-pg'
import { Client as Connection, Pool } from 'pg'
import { PrismaClient } from '../generated/postgresql/client.ts'
import { assert } from '../lib/assert.ts'
import { ok, type Result } from '../lib/result.ts'
import type { Client, SqlConnection } from './client.ts'
import type { Database, DatabaseOptions, DatabaseUnusable, Probed } from './database.ts'
import { createLogForms } from './log-forms.ts'
import { openNotifications } from './notifications.ts'
import { partitionedReads } from './partitioned-reads.ts'
import { connectionTo } from './postgresql-hosts.ts'
import { openRawConnection } from './postgresql-raw.ts'
import { openReads, type PostgresqlReads } from './postgresql-reads.ts'
import { unlessGone } from './sql/log-partitions.ts'
import { migrationStatements } from './sql/postgresql/migrations.ts'
import { formOfRows, formText, partitionStatements } from './sql/postgresql/partitions.ts'
import { serverFacts } from './sql/postgresql/server.ts'
import { shardStatements } from './sql/postgresql/shards.ts'
import { postgresqlStatements } from './sql/postgresql/statements.ts'
import { tableStatements } from './sql/postgresql/tables.ts'
import { failUnreplicated } from './unreplicated.ts'
import { reasonOf, unusable } from './unusable.ts'

/**
 * The database of a PostgreSQL URL. Nothing is set for a whole session, so that `url` may lead through a pooler that
 * gives out transactions; `wakeUrl` leads past it.
 */
export function openPostgresql({ url, wakeUrl, log, onConnect }: DatabaseOptions): Database {
  const news = openNotifications(wakeUrl ?? url, log)
  const connection = connectionTo(url)
  const hook = onConnect && { onConnect }
  let isClosed = false

  /** A client on a pool of connections; one is taken for as long as a transaction lasts. */
  function clientOf(pool: Pool): Client {
    const adapter = new PrismaPg(pool)
    async function connect(): ReturnType<PrismaPg['connect']> {
      assert(!isClosed, 'the store is open')
      return adapter.connect()
    }
    const { provider, adapterName } = adapter
    return new PrismaClient({ adapter: { provider, adapterName, connect } })
  }
  const poolOf = (max: number) => {
    const pool = new Pool({ ...settings, ...connection, ...hook, max })
    pool.on('connect', failUnreplicated)
    // An idle connection was lost; the pool makes another.
    return pool.on('error', () => {})
  }

  // One connection, so that what is read beside the writes is read after them.
  const writing = poolOf(1)
  const reading = poolOf(clientConnections)
  const writer = clientOf(writing)
  const reader = clientOf(reading)
  const reads = openReads({ ...settings, ...connection, ...hook, max: readConnections })
  const forms = createLogForms(async () => {
    // Tables of an earlier version may lack the published tip, and are in no partitions.
    return formOfRows((await unlessGone(reads.query(formText, []))) ?? [])
  })

  async function close(): Promise<void> {
    if (isClosed) return
    isClosed = true
    await news.close()
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
    mostSnapshots,
    changes: () => undefined,
    version: async () => String((await reads.query(versionStatement, []))[0]?.[0]),
    space: async () => {
      const [row] = await reads.query('SELECT pg_database_size(current_database())', [])
      return { databaseBytes: Number(row?.[0]), freeBytes: undefined }
    },
    pool: reads.pool,
    listen: news.listen,
    close,
  }
}

/**
 * Which transactions a read sees, and of which server: another one may use the numbers of transactions that were lost with the former for
 * its own.
 */
const versionStatement =
  "SELECT pg_current_snapshot()::text || ' ' || pg_postmaster_start_time()::text"

/** One connection that is read from, apart from those of the store: a pool that is busy is no server that is gone. */
export function openWatch(
  url: string,
  connectionTimeoutMillis: number,
  onConnect?: DatabaseOptions['onConnect'],
): PostgresqlReads {
  const hook = onConnect && { onConnect }
  return openReads({ ...settings, ...connectionTo(url), ...hook, connectionTimeoutMillis, max: 1 })
}

/** One connection and never another in its place, for what was begun on it would be forgotten there. */
function connectOnce(url: string): Promise<SqlConnection> {
  let wasConnected = false
  const onConnect = () => {
    if (wasConnected) throw new Error('the connection to the database was lost')
    wasConnected = true
  }
  return new PrismaPg({ ...settings, ...connectionTo(url), max: 1, onConnect }).connect()
}

/** Notifications of other processes come through the second, and a wrong one would never be noticed. */
async function probeBoth(
  url: string,
  wakeUrl: string | undefined,
): Promise<Result<Probed, DatabaseUnusable>> {
  const usable = await probe(url)
  if (!usable.ok || wakeUrl === undefined) return usable
  const wakeable = await probe(wakeUrl)
  return wakeable.ok ? usable : unusable(`WAKE_DATABASE_URL: ${wakeable.error.reason}`)
}

/** Whatever keeps us from asking the server who it is keeps us from using it. */
async function probe(url: string): Promise<Result<Probed, DatabaseUnusable>> {
  const client = new Connection({ ...settings, ...connectionTo(url) })
  // A connection that is lost between two statements emits an event; the next statement fails anyway.
  client.on('error', () => {})
  try {
    await client.connect()
    const { encoding, version, hasTables } = await serverFacts(client)
    if (encoding !== 'UTF8') return unusable(`its encoding is ${encoding}, and must be UTF8`)
    if (version < oldestVersion) return unusable(`PostgreSQL ${oldestVersion / 10_000} is needed`)
    return ok(hasTables ? 'TABLES' : 'NOTHING')
  } catch (failure) {
    return unusable(reasonOf(failure))
  } finally {
    // It may never have begun, or be gone already.
    await client.end().catch(() => {})
  }
}

/** Beside the program: two levels up from `src/store` and from `dist/store` alike. */
const migrationsPath = fileURLToPath(new URL('../../prisma/postgresql/migrations', import.meta.url))

/** Of the reading side of one process; a statement takes one for a few milliseconds. */
const readConnections = 10
/** Those of them that queries hold for as long as they read: the others are left to single statements. */
const mostSnapshots = 8
/** Of its client, which is asked once in a while. */
const clientConnections = 2

const settings = {
  application_name: 'ledger-gateway',
  /** How long a query waits for a connection, new or free. */
  connectionTimeoutMillis: 10_000,
  /** A connection stays until it is lost or the store is closed. */
  idleTimeoutMillis: 0,
  keepAlive: true,
} as const

/** In the form of `server_version_num`; the oldest that is still maintained. */
const oldestVersion = 140_000

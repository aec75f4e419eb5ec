import { mkdirSync, statSync } from 'node:fs'
import { stat, statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { PrismaClient } from '../../generated/prisma/client.ts'
import { assert, present } from '../../lib/assert.ts'
import { ok, type Result } from '../../lib/result.ts'
import type { Client, SqlConnection } from '../client.ts'
import type { Database, DatabaseUnusable, Probed, StoreLog, WritesOn } from '../database.ts'
import { type Reserve, reserveOf } from '../disk-reserve.ts'
import type { DatabaseSpace } from '../load.ts'
import { rawConnection } from '../raw-transactions.ts'
import { openFile, tableNames } from '../sql/sqlite/file.ts'
import { migrationStatements } from '../sql/sqlite/migrations.ts'
import { refuseWrites, settleWriter } from '../sql/sqlite/pragmas.ts'
import { sqliteStatements } from '../sql/sqlite/statements.ts'
import { tableStatements } from '../sql/sqlite/tables.ts'
import type { Statements } from '../sql/statements.ts'
import { reasonOf, unusable } from '../unusable.ts'
import { adapterInfo, type Begin, connectionBy, sqliteConnection } from './adapter.ts'
import { type Checkpoints, keepCheckpoints } from './checkpoints.ts'
import { type FileIdentity, fileIdentityOf } from './file-identity.ts'
import { openReads } from './reads.ts'
import { sqliteOnThread } from './thread.ts'

/** Opens the database in a file. A relative path starts at the current folder. A missing folder is created. */
export function openSqlite(path: string, log: StoreLog, writesOn: WritesOn = 'HERE'): Database {
  const file = resolve(path)
  let isClosed = false

  async function connect(connecting: Connecting): Promise<SqlConnection> {
    assert(!isClosed, 'the store is open')
    return await connectTo(file, connecting)
  }

  const place = fileIdentityOf(file)
  const reserve = reserveOf(file)
  let checkpoints: Checkpoints | undefined
  const connectWriter = () => connect({ ...writing, on: writesOn })
  const { writer, raw } = writerOf(connectWriter, (connection) => {
    reserve.keep()
    checkpoints ??= keepCheckpoints(file, log)
    return settleWriter(connection)
  })
  // This client cannot write.
  const reader = clientOf(() => connect({ begin: 'BEGIN', on: 'HERE' }), refuseWrites)

  function openToRead(cacheKibibytes?: number): DatabaseSync {
    assert(!isClosed, 'the store is open')
    return openFile(file, 'READ', cacheKibibytes)
  }
  const reads = openReads(() => openToRead())

  async function close(): Promise<void> {
    isClosed = true
    await checkpoints?.close()
    reads.close()
    await reader.$disconnect()
    await writer.$disconnect()
    // A command that only reads leaves no file.
    if (checkpoints !== undefined) reserve.keep()
  }

  return {
    ...kindOfDatabase,
    statements: statementsAt(place),
    probe: async () => probe(file, reserve),
    connect: (on = writesOn) => connect({ ...writing, on }),
    writer,
    raw,
    reader,
    query: reads.query,
    queryBoth: reads.queryBoth,
    snapshotConnection: () => openReads(() => openToRead(snapshotCacheKibibytes)),
    changes: reads.changes,
    version: async () => String(reads.changes()),
    space: () => spaceOf(file),
    pool: () => undefined,
    close,
  }
}

async function connectTo(file: string, { begin, on }: Connecting): Promise<SqlConnection> {
  mkdirSync(dirname(file), { recursive: true })
  return on === 'HERE'
    ? sqliteConnection(openFile(file, 'WRITE'), begin)
    : connectionBy(await sqliteOnThread(file), begin)
}

/** The statements of SQLite. A writing transaction fails if the file was moved or removed. */
function statementsAt({ check }: FileIdentity): Statements {
  return {
    ...sqliteStatements,
    beginWriting: async () => check(),
    beginWritingAfter: async (tx, slot) => {
      check()
      return sqliteStatements.beginWritingAfter(tx, slot)
    },
  }
}

async function spaceOf(file: string): Promise<DatabaseSpace> {
  const { bavail, bsize } = await statfs(dirname(file))
  const parts = [file, `${file}-wal`].map((path) => stat(path).catch(() => undefined))
  const sizes = (await Promise.all(parts)).map((found) => found?.size ?? 0)
  return { databaseBytes: sizes.reduce((sum, size) => sum + size, 0), freeBytes: bavail * bsize }
}

/** Creates the client of the writer, and raw statements on the same connection. */
function writerOf(
  connect: () => Promise<SqlConnection>,
  settle: Settle,
): Pick<Database, 'writer' | 'raw'> {
  let connection: SqlConnection | undefined
  const writer = clientOf(connect, (connected) => {
    connection = connected
    return settle(connected)
  })
  const raw = rawConnection(async () => {
    if (connection === undefined) await writer.$connect()
    return present(connection, 'the connection of the writer')
  })
  return { writer, raw }
}

/** Creates a client. Prisma connects on demand, and again after a disconnect, so `settle` applies the settings to each connection. */
function clientOf(connect: () => Promise<SqlConnection>, settle: Settle): Client {
  async function connectSettled(): Promise<SqlConnection> {
    const connection = await connect()
    await settle(connection)
    return connection
  }
  return new PrismaClient({ adapter: { ...adapterInfo, connect: connectSettled } })
}

type Settle = (connection: SqlConnection) => Promise<void>

/** How a connection begins transactions, and on which thread it runs. */
interface Connecting {
  readonly begin: Begin
  readonly on: WritesOn
}

const writing = { begin: 'BEGIN IMMEDIATE' } as const

/** Inspects the file without a change. A missing file is no error, because the first connection creates it. */
function probe(file: string, reserve: Reserve): Result<Probed, DatabaseUnusable> {
  try {
    const found = statSync(file, { throwIfNoEntry: false })
    if (found === undefined) return ok('NOTHING')
    if (found.isDirectory()) return unusable('it is a folder')
    reserve.release()
    const opened = openFile(file, 'READ')
    const names = tableNames(opened)
    opened.close()
    if (names.length === 0) return ok('NOTHING')
    const isOurs = names.includes('_prisma_migrations')
    return isOurs ? ok('TABLES') : unusable('it holds the tables of another program')
  } catch (failure) {
    return unusable(reasonOf(failure))
  }
}

/** Folder of the migrations, two levels above both `src/store` and `dist/store`. */
const migrationsPath = fileURLToPath(new URL('../../../prisma/migrations', import.meta.url))

/** Cache size of a snapshot connection. Each has its own cache, and every commit empties it. */
const snapshotCacheKibibytes = 4_096

/** Properties of every SQLite database. There are no notifications, so processes poll the file. */
const kindOfDatabase = {
  kind: 'sqlite',
  tables: tableStatements,
  migrations: { path: migrationsPath, statements: migrationStatements },
  listen: () => ({ close: async () => {} }),
  // One snapshot for each state of the database that a query still reads.
  maxSnapshots: 16,
} as const

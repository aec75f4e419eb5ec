import { err, ok, type Result } from '../lib/result.ts'
import { type DatabaseUrlNotSupported, databaseOf } from './connect.ts'
import type { Store } from './contract.ts'
import type { Database, DatabaseUnusable, StoreLog } from './database.ts'
import { fillsOf } from './fill-chains.ts'
import { type MigrationError, migrate } from './migrate.ts'
import { createReader } from './reader.ts'
import { createSerialQueue } from './serial-queue.ts'
import { createSnapshots } from './snapshots.ts'
import { reasonOf, unusable } from './unusable.ts'
import { databasePlace } from './url.ts'
import { createWriter } from './writer.ts'

/** Why a database could not be opened; nothing was changed then. */
export type DatabaseError = DatabaseUrlNotSupported | DatabaseUnusable | MigrationError

/** Why a store could not be opened. */
export type StoreError = DatabaseError | ImportUnfinished | LedgerMissing

/** The database holds a part of an export, and no ledger yet. */
export interface ImportUnfinished {
  readonly code: 'IMPORT_UNFINISHED'
}

/** The database holds no ledger, or is not there, and none was to be begun. */
export interface LedgerMissing {
  readonly code: 'LEDGER_MISSING'
  /** Of the database; never holds a password. */
  readonly place: string
}

/** What opening a store needs. */
export interface StoreOptions {
  /** `file:PATH`, the path relative to the current folder, or `postgresql://…`. */
  readonly url: string
  /** Where to listen for the commits of other processes, when `url` leads through a pooler. */
  readonly wakeUrl?: string | undefined
  readonly log: StoreLog
  /** Whether a database that holds no ledger is opened, and made where it is missing; it is by default. */
  readonly mayCreate?: boolean
}

/**
 * Opens a database, brings its tables up to date, and gives one client to the writer and another to all readers: a
 * client has one connection on SQLite, and a reader on the writer's would see, and be undone with, its transactions.
 */
export async function openStore(options: StoreOptions): Promise<Result<Store, StoreError>> {
  const opened = await openDatabase(options)
  if (!opened.ok) return opened
  const database = opened.value
  if ((await database.reader.import.count()) > 0) {
    await database.close()
    return err({ code: 'IMPORT_UNFINISHED' })
  }
  if (options.mayCreate === false && (await database.reader.network.count()) === 0) {
    await database.close()
    return err({ code: 'LEDGER_MISSING', place: databasePlace(options.url) })
  }
  const turns = createSerialQueue()
  const read = createReader(database)
  const snapshots = createSnapshots(database, read)

  async function close(): Promise<void> {
    await turns.close()
    snapshots.close()
    await database.close()
  }

  return ok({
    read,
    snapshot: snapshots.begin,
    write: createWriter(database, turns),
    isShared: database.kind === 'postgresql',
    listen: database.listen,
    load: () => ({ writes: turns.length(), snapshots: snapshots.load(), pool: database.pool() }),
    close,
  })
}

/** Opens a database below the store and brings its tables up to date, for moving it as a whole. */
export async function openDatabase({
  url,
  wakeUrl,
  log,
  mayCreate = true,
}: StoreOptions): Promise<Result<Database, DatabaseError | LedgerMissing>> {
  const opened = await databaseOf({ url, wakeUrl, log })
  if (!opened.ok) return opened
  const database = opened.value
  const usable = await database.probe()
  if (!usable.ok) return usable
  // Before a folder, a file or a table is made.
  if (usable.value === 'NOTHING' && !mayCreate) {
    return err({ code: 'LEDGER_MISSING', place: databasePlace(url) })
  }
  try {
    const applied = await bringUpToDate(database)
    if (!applied.ok) return applied
    if (applied.value.length > 0) log.info('migrations-applied', { migrations: applied.value })
    return ok(database)
  } catch (failure) {
    // No right to write, a disk that is full, a table of that name already: for the operator to repair.
    return unusable(reasonOf(failure))
  }
}

async function bringUpToDate(database: Database): Promise<Result<string[], MigrationError>> {
  const connection = await database.connect()
  try {
    return await migrate(connection, database.migrations, fillsOf(database))
  } finally {
    await connection.dispose()
  }
}

import { setTimeout as delay } from 'node:timers/promises'
import { afterCall } from '../lib/after-call.ts'
import { err, ok, type Result } from '../lib/result.ts'
import { type DatabaseUrlNotSupported, databaseOf } from './connect.ts'
import { longestLeaseMs } from './contract/lease.ts'
import type { Store, StoreReader } from './contract.ts'
import type { Database, DatabaseUnusable, StoreLog, WritesOn } from './database.ts'
import { createHistoryGuard, type HistoryGuard } from './history-guard.ts'
import {
  type DatabaseOlderThanProgram,
  hasMigration,
  isMigrated,
  type MigrateOptions,
  type MigrationError,
  migrate,
} from './migrate.ts'
import { createReader } from './reader.ts'
import { createSerialQueue } from './serial-queue.ts'
import { createSnapshots } from './snapshots.ts'
import { reasonOf, unusableAt } from './unusable.ts'
import { databaseLocation } from './url.ts'
import { fillsOf } from './write/fills.ts'
import { createStaleCheck } from './write/lease.ts'
import { createWriter } from './write/writer.ts'

/** The reason why a database could not be opened. Nothing was changed. */
export type DatabaseError = DatabaseUrlNotSupported | DatabaseUnusable | MigrationError

/** The reason why a store could not be opened. */
export type StoreError = DatabaseError | DatabaseOlderThanProgram | ImportUnfinished | LedgerMissing

/** The database has a part of an export, and no ledger yet. */
export interface ImportUnfinished {
  readonly code: 'IMPORT_UNFINISHED'
}

/** The database has no ledger or does not exist, and the caller does not allow its creation. */
export interface LedgerMissing {
  readonly code: 'LEDGER_MISSING'
  /** Path or address of the database, without passwords. */
  readonly place: string
}

export interface StoreOptions {
  /** `file:PATH` with a path relative to the current folder, or `postgresql://…`. */
  readonly url: string
  /** URL for notifications of other processes, if `url` leads through a pooler. */
  readonly wakeUrl?: string | undefined
  readonly log: StoreLog
  /** Whether a database without a ledger is opened, and a missing one created; true by default. */
  readonly mayCreate?: boolean
  /** The required tables; by default those of this program. */
  readonly schema?: Schema
  readonly writesOn?: WritesOn
  /** Ends the wait for the lease of another process. */
  readonly stopping?: AbortSignal | undefined
}

/**
 * The required tables. CURRENT: missing migrations are applied. UNCHANGED: a database with tables of another version is rejected, and
 * nothing is written. `upTo`: an empty database gets the tables of an earlier version, for rows of that version, and a database with
 * tables does not change.
 */
export type Schema = 'CURRENT' | 'UNCHANGED' | { readonly upTo: string }

/**
 * Opens a database, migrates its tables, and creates one client for the writer and another for all readers. On SQLite a client has one
 * connection. A reader on the connection of the writer would see its transactions, and be rolled back with them.
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
    return err({ code: 'LEDGER_MISSING', place: databaseLocation(options.url) })
  }
  const turns = createSerialQueue()
  const history = createHistoryGuard()
  const read = watched(createReader(database), history)
  const snapshots = createSnapshots(database, read)

  async function close(): Promise<void> {
    await turns.close()
    snapshots.close()
    await database.close()
  }

  return ok({
    read,
    primary: read,
    replicas: () => undefined,
    snapshot: snapshots.begin,
    space: database.space,
    write: createWriter(database, turns, history),
    isRewound: history.isRewound,
    isShared: database.kind === 'postgresql',
    changes: database.changes,
    listen: database.listen,
    load: () => ({ writes: turns.length(), snapshots: snapshots.load(), pool: database.pool() }),
    close,
  })
}

/** Wraps a reader so that each tip it reads is recorded in the history of this process. */
function watched(read: StoreReader, history: HistoryGuard): StoreReader {
  return { ...read, logTip: afterCall(read.logTip, history.recordTip) }
}

/** Opens a database without a store, and migrates its tables. Used to export and import a whole database. */
export async function openDatabase({
  url,
  wakeUrl,
  log,
  mayCreate = true,
  schema = 'CURRENT',
  writesOn,
  stopping,
}: StoreOptions): Promise<
  Result<Database, DatabaseError | DatabaseOlderThanProgram | LedgerMissing>
> {
  const opened = await databaseOf({ url, wakeUrl, log, writesOn })
  if (!opened.ok) return opened
  const database = opened.value
  const usable = await database.probe()
  if (!usable.ok) return unusableAt(url, usable.error.reason)
  // Checked before a folder, a file or a table is created.
  if (usable.value === 'NOTHING' && (!mayCreate || schema === 'UNCHANGED')) {
    return err({ code: 'LEDGER_MISSING', place: databaseLocation(url) })
  }
  if (typeof schema === 'object' && !hasMigration(database.migrations, schema.upTo)) {
    return err({ code: 'DATABASE_NEWER_THAN_PROGRAM', migration: schema.upTo })
  }
  try {
    const isLeft =
      usable.value === 'TABLES' && (typeof schema === 'object' || (await isCurrent(database)))
    const applied = isLeft ? ok([]) : await settleUnused(database, schema, { log, stopping })
    if (!applied.ok) {
      await database.close()
      return applied
    }
    if (applied.value.length > 0) log.info('migrations-applied', { migrations: applied.value })
    return ok(database)
  } catch (failure) {
    // The operator has to fix this: missing permissions, a full disk, or an existing table of the same name.
    return unusableAt(url, reasonOf(failure))
  }
}

/** Whether no migration is missing. Then no lock is needed, which the commit of a slot may hold for seconds. */
async function isCurrent(database: Database): Promise<boolean> {
  // The check is short, and a thread takes long to start.
  const connection = await database.connect('HERE')
  try {
    return (await isMigrated(connection, database.migrations)).ok
  } finally {
    await connection.dispose()
  }
}

/**
 * Settles the schema. Waits until the lease of a killed process expires. A lease that has more time left than before was renewed, so its
 * holder is alive. A lease that ends later than any renewal sets it is from before the clock of the database was set back.
 */
async function settleUnused(
  database: Database,
  schema: Schema,
  { log, stopping }: Pick<StoreOptions, 'log' | 'stopping'>,
) {
  const isStale = createStaleCheck()
  for (let maxLeftMs = longestLeaseMs; ; ) {
    const settled = await settleSchema(database, schema, log, isStale)
    if (settled.ok || settled.error.code !== 'DATABASE_IN_USE') return settled
    const { leftMs } = settled.error
    if (leftMs <= longestLeaseMs) {
      if (leftMs > maxLeftMs) return settled
      maxLeftMs = leftMs
    }
    await delay(Math.min(leftMs, pollMs))
    if (stopping?.aborted) return settled
  }
}

const pollMs = 250

/** Applies the migrations that a schema requires, or checks that none is missing. Resolves to the names of the applied migrations. */
export async function settleSchema(
  database: Database,
  schema: Schema,
  log: StoreLog,
  isStale?: MigrateOptions['isStale'],
): Promise<Result<string[], MigrationError | DatabaseOlderThanProgram>> {
  const connection = await database.connect()
  try {
    if (schema === 'UNCHANGED') {
      const same = await isMigrated(connection, database.migrations)
      return same.ok ? ok([]) : same
    }
    const upTo = schema === 'CURRENT' ? undefined : schema.upTo
    return await migrate(connection, database.migrations, {
      fills: fillsOf(database),
      upTo,
      isStale,
      // Logged before the migration, which cannot be undone.
      onBegin: (migrations) => log.warn('migrating', { migrations, isFinal: true }),
    })
  } finally {
    await connection.dispose()
  }
}

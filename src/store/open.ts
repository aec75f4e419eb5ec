import { setTimeout as delay } from 'node:timers/promises'
import { err, ok, type Result } from '../lib/result.ts'
import { type DatabaseUrlNotSupported, databaseOf } from './connect.ts'
import type { Store, StoreReader } from './contract.ts'
import type { Database, DatabaseUnusable, StoreLog, WritesOn } from './database.ts'
import { fillsOf } from './fill-chains.ts'
import { createHistoryGuard, type HistoryGuard } from './history.ts'
import {
  type DatabaseOlderThanProgram,
  hasMigration,
  isMigrated,
  type MigrationError,
  migrate,
} from './migrate.ts'
import { createReader } from './reader.ts'
import { createSerialQueue } from './serial-queue.ts'
import { createSnapshots } from './snapshots.ts'
import { reasonOf, unusable } from './unusable.ts'
import { databasePlace } from './url.ts'
import { createWriter } from './writer.ts'

/** Why a database could not be opened; nothing was changed then. */
export type DatabaseError = DatabaseUrlNotSupported | DatabaseUnusable | MigrationError

/** Why a store could not be opened. */
export type StoreError = DatabaseError | DatabaseOlderThanProgram | ImportUnfinished | LedgerMissing

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
  /** The tables that it is to have; those of this program by default. */
  readonly schema?: Schema
  readonly writesOn?: WritesOn
}

/**
 * CURRENT: missing migrations are applied. UNCHANGED: a database with other tables than the program's is refused, and nothing is
 * written. Or an empty database gets the tables of an earlier version, for rows that were written then; others stay as they are.
 */
export type Schema = 'CURRENT' | 'UNCHANGED' | { readonly upTo: string }

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
    listen: database.listen,
    load: () => ({ writes: turns.length(), snapshots: snapshots.load(), pool: database.pool() }),
    close,
  })
}

/** The same reads; what they say of the tip is what this process has seen. */
function watched(read: StoreReader, history: HistoryGuard): StoreReader {
  const logTip = async () => {
    const tip = await read.logTip()
    history.saw(tip)
    return tip
  }
  return { ...read, logTip }
}

/** Opens a database below the store and brings its tables up to date, for moving it as a whole. */
export async function openDatabase({
  url,
  wakeUrl,
  log,
  mayCreate = true,
  schema = 'CURRENT',
  writesOn,
}: StoreOptions): Promise<
  Result<Database, DatabaseError | DatabaseOlderThanProgram | LedgerMissing>
> {
  const opened = await databaseOf({ url, wakeUrl, log, writesOn })
  if (!opened.ok) return opened
  const database = opened.value
  const usable = await database.probe()
  if (!usable.ok) return usable
  // Before a folder, a file or a table is made.
  if (usable.value === 'NOTHING' && (!mayCreate || schema === 'UNCHANGED')) {
    return err({ code: 'LEDGER_MISSING', place: databasePlace(url) })
  }
  if (typeof schema === 'object' && !hasMigration(database.migrations, schema.upTo)) {
    return err({ code: 'DATABASE_NEWER_THAN_PROGRAM', migration: schema.upTo })
  }
  try {
    const isLeft =
      usable.value === 'TABLES' && (typeof schema === 'object' || (await isCurrent(database)))
    const applied = isLeft ? ok([]) : await settleUnused(database, schema, log)
    if (!applied.ok) {
      await database.close()
      return applied
    }
    if (applied.value.length > 0) log.info('migrations-applied', { migrations: applied.value })
    return ok(database)
  } catch (failure) {
    // No right to write, a disk that is full, a table of that name already: for the operator to repair.
    return unusable(reasonOf(failure))
  }
}

/** Whether there is nothing to apply: then no lock is taken, which a slot that is committed may hold for seconds. */
async function isCurrent(database: Database): Promise<boolean> {
  const connection = await database.connect()
  try {
    return (await isMigrated(connection, database.migrations)).ok
  } finally {
    await connection.dispose()
  }
}

/** Settles the schema, but waits for the lease of a process that was killed to run out: one that has more time left than before was renewed. */
async function settleUnused(database: Database, schema: Schema, log: StoreLog) {
  for (let mostMs = longestLeaseMs; ; ) {
    const settled = await settleSchema(database, schema, log)
    if (settled.ok || settled.error.code !== 'DATABASE_IN_USE') return settled
    const { leftMs } = settled.error
    if (leftMs > mostMs) return settled
    mostMs = leftMs
    await delay(Math.min(leftMs, pollMs))
  }
}

const pollMs = 250

/** More than a lease that is renewed has left. */
const longestLeaseMs = 4_000

/** Applies the migrations that a schema asks for, or checks that none is missing; gives the names applied. */
export async function settleSchema(
  database: Database,
  schema: Schema,
  log: StoreLog,
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
      // Before it is done, for it cannot be undone.
      onBegin: (migrations) => log.warn('migrating', { migrations, isFinal: true }),
    })
  } finally {
    await connection.dispose()
  }
}

import { ok, type Result } from '../lib/result.ts'
import {
  type Database,
  type DatabaseUnusable,
  type DatabaseUrlNotSupported,
  databaseOf,
} from './connect.ts'
import type { Store } from './contract.ts'
import { type MigrationError, migrate } from './migrate.ts'
import { createReader } from './reader.ts'
import { createTurns } from './turns.ts'
import { createWriter } from './writer.ts'

/** Why a store could not be opened; nothing was changed then. */
export type StoreError = DatabaseUrlNotSupported | DatabaseUnusable | MigrationError

/** What opening a store needs. */
export interface StoreOptions {
  /** `file:PATH`, the path relative to the current folder, or `postgresql://…`. */
  readonly url: string
  /** Where to listen for the commits of other processes, when `url` leads through a pooler. */
  readonly wakeUrl?: string | undefined
  readonly log: { info(event: string, fields: { readonly [name: string]: unknown }): void }
}

/**
 * Opens a database, brings its tables up to date, and gives one client to the writer and another to all readers: a
 * client has one connection on SQLite, and a reader on the writer's would see, and be undone with, its transactions.
 */
export async function openStore({
  url,
  wakeUrl,
  log,
}: StoreOptions): Promise<Result<Store, StoreError>> {
  const opened = databaseOf({ url, wakeUrl })
  if (!opened.ok) return opened
  const database = opened.value
  const usable = await database.probe()
  if (!usable.ok) return usable
  const applied = await bringUpToDate(database)
  if (!applied.ok) return applied
  if (applied.value.length > 0) log.info('migrations-applied', { migrations: applied.value })

  const turns = createTurns()

  async function close(): Promise<void> {
    await turns.close()
    await database.close()
  }

  return ok({
    read: createReader(database.reader),
    write: createWriter(database.writer, database.statements, turns),
    listen: database.listen,
    close,
  })
}

async function bringUpToDate(database: Database): Promise<Result<string[], MigrationError>> {
  const connection = await database.connect()
  try {
    return await migrate(connection, database.migrations)
  } finally {
    await connection.dispose()
  }
}

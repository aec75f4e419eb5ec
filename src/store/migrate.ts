import { createHash, randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { err, ok, type Result } from '../lib/result.ts'
import type { SqlConnection } from './client.ts'
import type { LeaseState } from './contract/lease.ts'
import type { Database } from './database.ts'
import { type MigrationRecord, recordedMigrations } from './sql/migration-records.ts'
import type { MigrationStatements } from './sql/statements.ts'

/** Applies the migrations of a database. */

/** The reason why a database was not migrated. */
export type MigrationError =
  /** A newer program has migrated the database. */
  | { readonly code: 'DATABASE_NEWER_THAN_PROGRAM'; readonly migration: string }
  /** The file of the migration differs from the one that was applied. */
  | { readonly code: 'MIGRATION_CHANGED'; readonly migration: string }
  /** Another tool began the migration and did not finish it. */
  | { readonly code: 'MIGRATION_UNFINISHED'; readonly migration: string }
  /** A gateway of an earlier version writes the database. It would fail, or write wrong rows into the new tables. */
  | DatabaseInUse

/** Another process holds the lease of a database that lacks migrations. */
export interface DatabaseInUse {
  readonly code: 'DATABASE_IN_USE'
  /** Name of the first missing migration. */
  readonly migration: string
  readonly holder: string
  /** Milliseconds until the lease expires, unless it is renewed. */
  readonly leftMs: number
}

/** The tables are those of an earlier version. */
export interface DatabaseOlderThanProgram {
  readonly code: 'DATABASE_OLDER_THAN_PROGRAM'
  /** Name of the first missing migration. */
  readonly migration: string
}

/**
 * Applies all missing migrations of the folder in one transaction, and resolves to their names. Maintains the table
 * `_prisma_migrations` as Prisma's own commands do: one row per folder, with the SHA-256 of its file in hex as checksum.
 */
export async function migrate(
  connection: SqlConnection,
  { path, statements }: Database['migrations'],
  { fills = {}, upTo, onBegin = () => {}, isStale = () => false }: MigrateOptions = {},
): Promise<Result<string[], MigrationError>> {
  await statements.beginMigrating(connection)
  try {
    const all = readMigrations(path)
    const isWanted = ({ name }: Migration) => upTo === undefined || name <= upTo
    const result = await applyMissing(connection, statements, {
      all,
      isWanted,
      fills,
      onBegin,
      isStale,
    })
    await (result.ok
      ? statements.commitMigrating(connection)
      : statements.rollbackMigrating(connection))
    return result
  } catch (cause) {
    await statements.rollbackMigrating(connection)
    throw new Error('a migration failed, and was rolled back', { cause })
  }
}

export interface MigrateOptions {
  readonly fills?: Fills
  /** Name of the last migration to apply. By default all are applied. */
  readonly upTo?: string | undefined
  /** Called with the names of the migrations before they are applied to a database that already has others. They cannot be undone. */
  readonly onBegin?: (names: readonly string[]) => void
  /** Whether the lease of another process is to be ignored, because that process has ended. */
  readonly isStale?: ((lease: LeaseState) => boolean) | undefined
}

/** Checks whether a database has exactly the tables of this program. Changes nothing. */
export async function isMigrated(
  connection: SqlConnection,
  { path }: Pick<Database['migrations'], 'path'>,
): Promise<Result<void, MigrationError | DatabaseOlderThanProgram>> {
  const recorded = await recordedMigrations(connection)
  const migrations = readMigrations(path)
  const disagreement = firstDisagreement(recorded, migrations)
  if (disagreement !== undefined) return err(disagreement)
  const [missing] = missingIn(recorded, migrations)
  if (missing === undefined) return ok(undefined)
  return err({ code: 'DATABASE_OLDER_THAN_PROGRAM', migration: missing.name })
}

/** Name of the newest migration of this program. */
export function newestMigration({
  path,
}: Pick<Database['migrations'], 'path'>): string | undefined {
  return readMigrations(path).at(-1)?.name
}

/** Names of the tables that the migrations of this program create. */
export function tableNames({ path }: Pick<Database['migrations'], 'path'>): ReadonlySet<string> {
  const scripts = readMigrations(path).map(({ script }) => script)
  return new Set(
    scripts.flatMap((script) =>
      [...script.matchAll(/(?:CREATE TABLE|RENAME TO) "?(\w+)/g)].map(([, name = '']) => name),
    ),
  )
}

/** Whether this program has a migration with this name. */
export function hasMigration(
  { path }: Pick<Database['migrations'], 'path'>,
  name: string,
): boolean {
  return readMigrations(path).some((migration) => migration.name === name)
}

/** Functions by migration name. Each fills tables after its migration, in the same transaction, if SQL alone cannot. */
export interface Fills {
  readonly [migration: string]: (connection: SqlConnection) => Promise<void>
}

interface ToApply {
  readonly all: readonly Migration[]
  readonly isWanted: (migration: Migration) => boolean
  readonly fills: Fills
  readonly onBegin: (names: readonly string[]) => void
  readonly isStale: (lease: LeaseState) => boolean
}

async function applyMissing(
  connection: SqlConnection,
  statements: MigrationStatements,
  { all, isWanted, fills, onBegin, isStale }: ToApply,
): Promise<Result<string[], MigrationError>> {
  await statements.createMigrationTable(connection)
  const recorded = await recordedMigrations(connection)
  const disagreement = firstDisagreement(recorded, all)
  if (disagreement !== undefined) return err(disagreement)
  const missing = missingIn(recorded, all).filter(isWanted)
  const [first] = missing
  if (first !== undefined && recorded.length > 0) {
    const lease = await statements.leaseInForce(connection)
    if (lease !== undefined && !isStale(lease)) {
      const { holder, leftMs } = lease
      return err({ code: 'DATABASE_IN_USE', migration: first.name, holder, leftMs })
    }
    onBegin(missing.map(({ name }) => name))
  }
  for (const migration of missing) {
    await statements.runMigration(connection, { id: randomUUID(), ...migration })
    await fills[migration.name]?.(connection)
  }
  return ok(missing.map(({ name }) => name))
}

function missingIn(
  recorded: readonly MigrationRecord[],
  migrations: readonly Migration[],
): Migration[] {
  return migrations.filter(({ name }) => recorded.every((record) => record.name !== name))
}

function firstDisagreement(
  recorded: readonly MigrationRecord[],
  migrations: readonly Migration[],
): MigrationError | undefined {
  for (const { name, checksum, isFinished } of recorded) {
    const migration = migrations.find((candidate) => candidate.name === name)
    if (migration === undefined) return { code: 'DATABASE_NEWER_THAN_PROGRAM', migration: name }
    if (!isFinished) return { code: 'MIGRATION_UNFINISHED', migration: name }
    if (migration.checksum !== checksum) return { code: 'MIGRATION_CHANGED', migration: name }
  }
  return undefined
}

interface Migration {
  readonly name: string
  readonly checksum: string
  readonly script: string
}

/** Reads the migrations of a folder in the order of their names, which begin with the time of their creation. */
function readMigrations(folder: string): Migration[] {
  const entries = readdirSync(folder, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  return names.sort().map((name) => {
    const script = readFileSync(join(folder, name, 'migration.sql'), 'utf8')
    return { name, script, checksum: createHash('sha256').update(script).digest('hex') }
  })
}

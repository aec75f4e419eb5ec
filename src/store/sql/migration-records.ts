import type { SqlConnection } from '../client.ts'
import { rowsOf } from './tables.ts'

/** Migration in Prisma's table. */
export interface MigrationRecord {
  readonly name: string
  readonly checksum: string
  readonly isFinished: boolean
}

/** Reads the migrations that were started and not rolled back, by name. */
export async function recordedMigrations(connection: SqlConnection): Promise<MigrationRecord[]> {
  const rows = await rowsOf(
    connection,
    `SELECT migration_name, checksum, finished_at IS NOT NULL FROM _prisma_migrations
    WHERE rolled_back_at IS NULL ORDER BY migration_name`,
  )
  return rows.map(([name, checksum, finished]) => ({
    name: String(name),
    checksum: String(checksum),
    // SQLite returns 1, PostgreSQL true.
    isFinished: Number(finished) === 1,
  }))
}

import type { SqlConnection } from '../client.ts'
import type { LeaseState } from '../contract/lease.ts'
import { rowsOf } from './tables.ts'

/** Migration in Prisma's table. */
export interface MigrationRecord {
  readonly name: string
  readonly checksum: string
  readonly isFinished: boolean
}

/** Reads the holder of the lease and its remaining time. `now` is the SQL of the current Unix time in milliseconds. */
export async function leaseInForce(
  connection: SqlConnection,
  now: string,
): Promise<LeaseState | undefined> {
  const text = `SELECT term, holder, until - ${now} FROM writer WHERE until > ${now}`
  const [row] = await rowsOf(connection, text)
  return row && { term: Number(row[0]), holder: String(row[1]), leftMs: Number(row[2]) }
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

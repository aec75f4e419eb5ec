import type { SqlConnection } from '../../client.ts'
import { leaseInForce } from '../migration-records.ts'
import type { MigrationStatements } from '../statements.ts'
import { nowMs } from './lease.ts'
import { timeoutsOff } from './transaction.ts'

/** Statements on the table of applied migrations on PostgreSQL. They need a single connection, not a pool. */
export const migrationStatements: MigrationStatements = {
  // The lock belongs to the transaction: behind a connection pooler, a session lock would never be released.
  // In the texts of the migrations a backslash is no escape.
  beginMigrating: (connection) =>
    runScript(
      connection,
      `BEGIN; SET LOCAL standard_conforming_strings = on; ${timeoutsOff};
      SELECT pg_advisory_xact_lock(${migrationLock})`,
    ),
  commitMigrating: (connection) => runScript(connection, 'COMMIT'),
  // A failed statement has closed the connection already, and the transaction with it.
  rollbackMigrating: (connection) => runScript(connection, 'ROLLBACK').catch(() => {}),

  async createMigrationTable(connection) {
    // A read-only server refuses CREATE TABLE IF NOT EXISTS even if the table exists.
    await runScript(
      connection,
      `DO $$ BEGIN IF to_regclass('_prisma_migrations') IS NULL THEN
      CREATE TABLE "_prisma_migrations" (
        "id"                    VARCHAR(36) PRIMARY KEY NOT NULL,
        "checksum"              VARCHAR(64) NOT NULL,
        "finished_at"           TIMESTAMPTZ,
        "migration_name"        VARCHAR(255) NOT NULL,
        "logs"                  TEXT,
        "rolled_back_at"        TIMESTAMPTZ,
        "started_at"            TIMESTAMPTZ NOT NULL DEFAULT now(),
        "applied_steps_count"   INTEGER NOT NULL DEFAULT 0
      ); END IF; END $$`,
    )
  },

  leaseInForce: (connection) => leaseInForce(connection, nowMs),

  async runMigration(connection, migration) {
    await runScript(connection, migration.script)
    await connection.executeRaw({
      sql: `INSERT INTO _prisma_migrations
          (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
        VALUES ($1, $2, $3, clock_timestamp(), clock_timestamp(), 1)`,
      args: [migration.id, migration.checksum, migration.name],
      argTypes: Array.from({ length: 3 }, () => ({ scalarType: 'string', arity: 'scalar' })),
    })
  },
}

/** Key of the lock. It must be the same in every version of the program. */
const migrationLock = 7_273_019_548

/** Runs a script as one message: the driver's own `executeScript` splits at every semicolon, even inside a string. */
async function runScript(connection: SqlConnection, sql: string): Promise<void> {
  await connection.executeRaw({ sql, args: [], argTypes: [] })
}

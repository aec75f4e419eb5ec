import { leaseInForce } from '../migration-records.ts'
import type { MigrationStatements } from '../statements.ts'
import { nowMs } from './lease.ts'
import { useWriteAheadLog } from './pragmas.ts'

/** Statements on the table of applied migrations on SQLite. */
export const migrationStatements: MigrationStatements = {
  beginMigrating: (connection) => connection.executeScript(`${useWriteAheadLog}; BEGIN IMMEDIATE`),
  commitMigrating: (connection) => connection.executeScript('COMMIT'),
  // SQLite has already rolled back when the disk is full.
  rollbackMigrating: (connection) => connection.executeScript('ROLLBACK').catch(() => {}),

  createMigrationTable: (connection) =>
    connection.executeScript(`
      CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
        "id"                    TEXT PRIMARY KEY NOT NULL,
        "checksum"              TEXT NOT NULL,
        "finished_at"           DATETIME,
        "migration_name"        TEXT NOT NULL,
        "logs"                  TEXT,
        "rolled_back_at"        DATETIME,
        "started_at"            DATETIME NOT NULL DEFAULT current_timestamp,
        "applied_steps_count"   INTEGER UNSIGNED NOT NULL DEFAULT 0
      )`),

  leaseInForce: (connection) => leaseInForce(connection, nowMs),

  async runMigration(connection, migration) {
    await connection.executeScript(migration.script)
    await connection.executeRaw({
      sql: `INSERT INTO _prisma_migrations
          (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
        VALUES (?, ?, ?, ${nowMs}, ${nowMs}, 1)`,
      args: [migration.id, migration.checksum, migration.name],
      argTypes: Array.from({ length: 3 }, () => ({ scalarType: 'string', arity: 'scalar' })),
    })
  },
}

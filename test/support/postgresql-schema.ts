import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { assert } from '../../src/lib/assert.ts'

/** Derives the Prisma schema of PostgreSQL from that of SQLite, so that the models are declared once. */

/** The file of the PostgreSQL schema. */
export const postgresqlSchemaFile = fileURLToPath(
  new URL('../../prisma/postgresql/schema.prisma', import.meta.url),
)

const sqliteSchemaFile = fileURLToPath(new URL('../../prisma/schema.prisma', import.meta.url))

/** The expected text of the PostgreSQL schema. */
export function postgresqlSchema(): string {
  return replacements.reduce(
    (text, [sqlite, postgresql]) => {
      assert(text.split(sqlite).length === 2, `the schema has ${sqlite} once`)
      return text.replace(sqlite, postgresql)
    },
    readFileSync(sqliteSchemaFile, 'utf8'),
  )
}

const replacements = [
  [
    '// The database, once for every provider:',
    '// Made by `npm run migration` from ../schema.prisma; change that one.\n// The database, once for every provider:',
  ],
  ['"../src/generated/prisma"', '"../../src/generated/postgresql"'],
  ['provider = "sqlite"', 'provider = "postgresql"'],
  // PostgreSQL reads rows that its vacuum has not seen from the table in any case.
  [
    `  /// On SQLite with all columns, so that a page of an address lies on one or two pages of the file, not one for each row.
  @@index([address, class, seq, ordinal, roles, milestoneIndex, outputId, isSpent, historyHash, balance, isLastOfTransaction], map: "ledger_updates_address_class_seq_idx")`,
    '  @@index([address, class, seq])',
  ],
] as const

/** Writes the PostgreSQL schema. */
export function writePostgresqlSchema(): void {
  writeFileSync(postgresqlSchemaFile, postgresqlSchema())
}

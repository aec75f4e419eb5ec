import { bulkOf } from '../bulk.ts'
import type { Statements } from '../statements.ts'
import { dialect } from './dialect.ts'
import { leaseStatements } from './lease.ts'
import { logStatements } from './tips.ts'
import { transactionInserts } from './transactions.ts'

/** How SQLite is spoken to. One writer has the whole file, and nobody else can be listening. */
export const sqliteStatements: Statements = {
  beginWriting: async () => {},
  lockChainRecords: async () => {},
  notify: async () => {},
  ...leaseStatements,
  ...transactionInserts,
  ...logStatements,
  ...bulkOf(dialect),
}

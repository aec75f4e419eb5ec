import { bulkOf } from '../bulk.ts'
import type { Statements } from '../statements.ts'
import { dialect } from './dialect.ts'
import { leaseStatements } from './lease.ts'
import { logStatements } from './tips.ts'
import { transactionInserts } from './transactions.ts'

/** The statements of SQLite. One process has the whole file, so no other one has to be locked out or notified. */
export const sqliteStatements: Statements = {
  beginWriting: async () => {},
  lockChainRecords: async () => {},
  notify: async () => {},
  ...leaseStatements,
  ...transactionInserts,
  ...logStatements,
  ...bulkOf(dialect),
}

import { bulkOf } from '../bulk.ts'
import { inboxStatements } from '../inbox.ts'
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
  ...inboxStatements((text) => text),
  ...transactionInserts,
  ...logStatements,
  ...bulkOf(dialect),
}

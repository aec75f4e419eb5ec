import { numbered } from '../../postgresql/statements.ts'
import { bulkOf } from '../bulk.ts'
import { inboxStatements } from '../inbox.ts'
import type { Statements } from '../statements.ts'
import { dialect } from './dialect.ts'
import { leaseStatements } from './lease.ts'
import { logStatements } from './tips.ts'
import { transactionStatements } from './transaction.ts'
import { transactionInserts } from './transactions.ts'

export const postgresqlStatements: Statements = {
  ...transactionStatements,
  ...leaseStatements,
  ...inboxStatements(numbered),
  ...transactionInserts,
  ...logStatements,
  ...bulkOf(dialect),
}

import { bulkOf } from '../bulk.ts'
import type { Statements } from '../statements.ts'
import { dialect } from './dialect.ts'
import { leaseStatements } from './lease.ts'
import { logStatements } from './tips.ts'
import { transactionStatements } from './transaction.ts'
import { transactionInserts } from './transactions.ts'

/** The statements of PostgreSQL. */
export const postgresqlStatements: Statements = {
  ...transactionStatements,
  ...leaseStatements,
  ...transactionInserts,
  ...logStatements,
  ...bulkOf(dialect),
}

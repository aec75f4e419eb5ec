import type { Statements } from '../statements.ts'
import { bookingStatements } from './booking.ts'
import { inboxStatements } from './inbox.ts'
import { leaseStatements } from './lease.ts'
import { logStatements } from './log.ts'
import { transactionStatements } from './transaction.ts'
import { viewStatements } from './views.ts'
import { waitingStatements } from './waiting.ts'

/** How PostgreSQL is spoken to. */
export const postgresqlStatements: Statements = {
  ...transactionStatements,
  ...leaseStatements,
  ...inboxStatements,
  ...bookingStatements,
  ...logStatements,
  ...viewStatements,
  ...waitingStatements,
}

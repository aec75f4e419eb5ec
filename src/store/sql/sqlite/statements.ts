import type { Statements } from '../statements.ts'
import { bookingStatements } from './booking.ts'
import { inboxStatements } from './inbox.ts'
import { leaseStatements } from './lease.ts'
import { logStatements } from './log.ts'
import { viewStatements } from './views.ts'
import { waitingStatements } from './waiting.ts'

/** How SQLite is spoken to. One writer has the whole file, and nobody else can be listening. */
export const sqliteStatements: Statements = {
  beginWriting: async () => {},
  lockChainRecords: async () => {},
  notify: async () => {},
  ...leaseStatements,
  ...inboxStatements,
  ...bookingStatements,
  ...logStatements,
  ...viewStatements,
  ...waitingStatements,
}

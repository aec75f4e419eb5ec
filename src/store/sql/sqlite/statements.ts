import { present } from '../../../lib/assert.ts'
import type { HistoryFacts } from '../../contract/history.ts'
import { bulkOf } from '../bulk.ts'
import { historyColumns } from '../history-columns.ts'
import { inboxStatements } from '../inbox.ts'
import type { Statements } from '../statements.ts'
import { dialect } from './dialect.ts'
import { leaseStatements } from './lease.ts'
import { logStatements } from './tips.ts'
import { transactionInserts } from './transactions.ts'

const historyText = `SELECT ${historyColumns(dialect, '?')}`

/** All statements of SQLite. A writing transaction locks the whole file, and a file cannot notify other processes. */
export const sqliteStatements: Statements = {
  beginWriting: async () => {},
  allowIdling: async () => {},
  // The statements are written for the planner of SQLite without statistics.
  gatherStatistics: async () => {},
  async beginWritingAfter(tx, slot) {
    const [facts] = await tx.$queryRawUnsafe<HistoryFacts[]>(historyText, slot)
    return present(facts, 'a row')
  },
  lockChainRecords: async () => {},
  lockPruning: async () => {},
  notify: async () => {},
  ...leaseStatements,
  ...inboxStatements((text) => text),
  ...transactionInserts,
  ...logStatements,
  ...bulkOf(dialect),
}

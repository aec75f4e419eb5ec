import { present } from '../../../lib/assert.ts'
import type { StoreNotification } from '../../contract.ts'
import type { HistoryFacts } from '../../history-contract.ts'
import { historyColumns } from '../history.ts'
import type { TransactionStatements } from '../statements.ts'
import { dialect } from './dialect.ts'

/** The channels on which processes on one database notify each other, by topic. */
export const channels: { readonly [T in StoreNotification['topic']]: string } = {
  LOG_GREW: 'ledger_gateway_growth',
  BLOCKS_ACCEPTED: 'ledger_gateway_inbox',
  LEASE_FREED: 'ledger_gateway_lease',
}

/** Settings of one transaction. A commit that waits for more than the disk, as of a standby that shows it, goes on doing so. */
const settled = `set_config('idle_in_transaction_session_timeout', '2s', true),
  set_config('lock_timeout', '2s', true),
  CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply'
    ELSE set_config('synchronous_commit', 'on', true) END`

/** What a writing transaction does besides writing, on PostgreSQL. */
export const transactionStatements: TransactionStatements = {
  // For the transaction alone, and not for the session: behind a pooler other clients use the session too. A process that is
  // paused in the middle loses its transaction before its lease runs out, and with it every lock.
  async beginWriting(tx) {
    await tx.$queryRawUnsafe(`SELECT ${settled}`)
  },

  // One statement for both, for each is a round trip.
  async beginWritingAfter(tx, slot) {
    const [facts] = await tx.$queryRawUnsafe<HistoryFacts[]>(
      `SELECT ${settled}, ${historyColumns(dialect, '$1')}`,
      slot,
    )
    return present(facts, 'a row')
  },

  async gatherStatistics(tx) {
    await tx.$executeRawUnsafe('ANALYZE')
  },

  async allowIdling(tx) {
    await tx.$queryRawUnsafe(
      "SELECT set_config('idle_in_transaction_session_timeout', '120s', true)",
    )
  },

  // The versions of one chain have no row in common that every setter would lock.
  async lockChainRecords(tx) {
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended('chain_records', 0))`
  },

  async notify(tx, news) {
    const payload = news.topic === 'LOG_GREW' ? String(news.seq) : ''
    await tx.$executeRawUnsafe('SELECT pg_notify($1, $2)', channels[news.topic], payload)
  },
}

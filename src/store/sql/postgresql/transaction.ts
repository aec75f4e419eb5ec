import { present } from '../../../lib/assert.ts'
import type { HistoryFacts } from '../../contract/history.ts'
import type { StoreNotification } from '../../contract.ts'
import { historyColumns } from '../history-columns.ts'
import type { TransactionStatements } from '../statements.ts'
import { dialect } from './dialect.ts'

/** Channels of the notifications between processes on one database, by topic. */
export const channels: { readonly [T in StoreNotification['topic']]: string } = {
  LOG_GREW: 'ledger_gateway_growth',
  BLOCKS_ACCEPTED: 'ledger_gateway_inbox',
  LEASE_FREED: 'ledger_gateway_lease',
}

/** Milliseconds for which a statement of the writer waits for a lock of another session. */
export const lockWaitMs = 2_000

/**
 * SQL of the settings of a writing transaction. A slot of any size must be committed, so other timeouts of the role or the database are
 * off; `transaction_timeout` exists from PostgreSQL 17 on. `remote_apply` is kept as `synchronous_commit`, because it is stricter than `on`.
 */
const settings = `set_config('idle_in_transaction_session_timeout', '2s', true),
  set_config('lock_timeout', '${lockWaitMs}', true),
  set_config('statement_timeout', '0', true),
  CASE WHEN current_setting('transaction_timeout', true) IS NOT NULL
    THEN set_config('transaction_timeout', '0', true) END,
  CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply'
    ELSE set_config('synchronous_commit', 'on', true) END`

/**
 * Turns off the timeouts that a role or a database may have, as pg_dump does, for a transaction that reads or writes a whole ledger.
 * `transaction_timeout` exists from PostgreSQL 17 on.
 */
export const timeoutsOff = `SELECT set_config(name, '0', true) FROM pg_settings WHERE name IN
  ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')`

/** Statements of a writing transaction that do not write rows, on PostgreSQL. */
export const transactionStatements: TransactionStatements = {
  // The settings belong to the transaction and not to the session, which other clients behind a connection pooler use too. A process
  // that is paused in a transaction loses it, and all its locks, before its lease expires.
  async beginWriting(tx) {
    await tx.$queryRawUnsafe(`SELECT ${settings}`)
  },

  // One statement for both, because each statement is a round trip.
  async beginWritingAfter(tx, slot) {
    const [found] = await tx.$queryRawUnsafe<(HistoryFacts & { readOnly: string })[]>(
      `SELECT ${settings}, current_setting('transaction_read_only') AS "readOnly",
        ${historyColumns(dialect, '$1')}`,
      slot,
    )
    const facts = present(found, 'a row')
    // A process that does not write checks only this, and must not take a standby for a server that it can write to.
    if (facts.readOnly === 'on') throw readOnlyError()
    return facts
  },

  async gatherStatistics(tx) {
    // One message, which is one transaction.
    await tx.$executeRawUnsafe('SET LOCAL statement_timeout = 0; ANALYZE')
  },

  async allowIdling(tx) {
    await tx.$queryRawUnsafe(
      "SELECT set_config('idle_in_transaction_session_timeout', '120s', true)",
    )
  },

  // The versions of a chain record share no row that every transaction could lock.
  async lockChainRecords(tx) {
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended('chain_records', 0))`
  },

  async lockPruning(tx) {
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended('pruning', 0))`
  },

  async notify(tx, notification) {
    const payload = notification.topic === 'LOG_GREW' ? String(notification.seq) : ''
    await tx.$executeRawUnsafe('SELECT pg_notify($1, $2)', channels[notification.topic], payload)
  },
}

/** The error that a statement that writes would cause (read_only_sql_transaction). */
function readOnlyError(): Error {
  return Object.assign(new Error('the server accepts only reads'), { code: '25006' })
}

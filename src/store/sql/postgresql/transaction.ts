import type { TransactionStatements } from '../statements.ts'

/** The channel on which processes on one database tell each other how far the log reaches. */
export const growthChannel = 'ledger_gateway_growth'

/** What a writing transaction does besides writing, on PostgreSQL. */
export const transactionStatements: TransactionStatements = {
  // For the transaction alone, and not for the session: behind a pooler the session is everybody's. A process that is
  // paused in the middle loses its transaction before its lease runs out, and with it every lock.
  async beginWriting(tx) {
    await tx.$queryRaw`
      SELECT set_config('idle_in_transaction_session_timeout', '2s', true),
        set_config('lock_timeout', '2s', true), set_config('synchronous_commit', 'on', true)`
  },

  // The versions of one chain have no row in common that every setter would lock.
  async lockChainRecords(tx) {
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended('chain_records', 0))`
  },

  async announceGrowth(tx, seq) {
    await tx.$executeRaw`SELECT pg_notify(${growthChannel}, ${String(seq)})`
  },
}

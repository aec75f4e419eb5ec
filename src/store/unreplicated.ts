import type { PoolClient } from 'pg'

/**
 * Commits that were to wait for a standby and do no longer. When the wait is cancelled (`pg_cancel_backend`), PostgreSQL says in a
 * warning that the standby may lack the transaction, and then that the commit succeeded: a client that
 * skips warnings acknowledges what a failover loses.
 */

/** Fails a commit whose wait for the standby was cancelled, and with it the connection: as if it was lost before the answer. */
export function failUnreplicated(client: PoolClient): void {
  client.on('notice', ({ routine }) => {
    // The words of the warning depend on the language of the server.
    if (routine !== 'SyncRepWaitForLSN') return
    const failure = new Error('the wait of a commit for the standby was cancelled')
    // The answer may be in the same packet: to destroy the socket would come too late.
    client.connection.emit('error', Object.assign(failure, { code: 'ECONNRESET' }))
  })
}

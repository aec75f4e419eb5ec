import type { PoolClient } from 'pg'

/**
 * Commits whose wait for a synchronous standby was cancelled (`pg_cancel_backend`). PostgreSQL sends a warning that the standby may lack
 * the transaction, and then reports success. A client that ignores the warning acknowledges a transaction that a failover may lose.
 */

/** Fails a commit whose wait for the standby was cancelled. Also fails its connection, as if it was lost before the response. */
export function failUnreplicated(client: PoolClient): void {
  client.on('notice', ({ routine }) => {
    // The text of the warning depends on the language of the server, and the routine does not.
    if (routine !== 'SyncRepWaitForLSN') return
    const failure = new Error('the wait of a commit for the standby was cancelled')
    // The response may be in the same packet, so destroying the socket would be too late.
    client.connection.emit('error', Object.assign(failure, { code: 'ECONNRESET' }))
  })
}

import type { ClientBase } from 'pg'

/** How long statements outside of transactions wait for a lock: another session may lock a table for hours, as `VACUUM FULL` does. */

/**
 * Returns the statement that limits the wait for a lock of all statements of a connection. Behind a pooler, which lends its session to
 * others, it changes nothing.
 */
export function lockWaitOf(client: ClientBase, ms: number): string {
  return `SELECT set_config('lock_timeout', '${ms}', false) WHERE pg_backend_pid() = ${serverOf(client) ?? 0}`
}

/** Returns the id of the server process that the client connected to; behind a pooler, a number of the pooler. */
export function serverOf(client: ClientBase): number | undefined {
  return 'processID' in client && typeof client.processID === 'number'
    ? client.processID
    : undefined
}

import type { ClientBase } from 'pg'

/** Verifies that all connections of a replica lead to one server: the position that one server has reached says nothing about another. */
export interface SameServer {
  /** Rejects a connection that leads to another server than the first connection. */
  readonly check: (client: ClientBase) => Promise<void>
  /** Throws if any connection led to another server. */
  readonly holds: () => void
  /** Whether any connection led to another server. It stays so, because earlier connections may still lead to the first server. */
  readonly isBroken: () => boolean
}

/** Creates the verification for one replica. Its URL may name several servers, or lead to several servers through a proxy. */
export function createSameServer(): SameServer {
  let first: string | undefined
  let failure: Error | undefined

  async function check(client: ClientBase): Promise<void> {
    const { rows } = await client.query<{ started: string }>(
      'SELECT pg_postmaster_start_time()::text AS started',
    )
    const started = rows[0]?.started
    first ??= started
    if (started === first) return
    // The code of a lost connection, which callers treat as temporary: the server may have been restarted.
    failure = Object.assign(new Error('its URL leads to several servers, or it was restarted'), {
      code: 'ECONNRESET',
    })
    throw failure
  }

  return {
    check,
    holds: () => {
      if (failure !== undefined) throw failure
    },
    isBroken: () => failure !== undefined,
  }
}

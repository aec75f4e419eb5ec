import type { ClientBase } from 'pg'

/** That all connections of a replica lead to one server: what one of them has reached says nothing of another server. */
export interface SameServer {
  /** Fails for a connection that leads to another server than the first one did. */
  readonly check: (client: ClientBase) => Promise<void>
  /** Fails once a connection led elsewhere. */
  readonly holds: () => void
}

/** For one replica as long as it is open; its URL may lead through a proxy to several servers, or name several. */
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
    // As if the first server was lost, which passes when it was restarted.
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
  }
}

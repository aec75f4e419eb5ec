import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import type { Listening } from './connect.ts'
import { beginListening, newestSeq } from './sql/postgresql/growth.ts'

/** Hears on PostgreSQL that the log has grown, whichever process made it grow. */

/** Where to listen, and who wants to know. */
export interface GrowthListener {
  readonly url: string
  readonly hear: (seq: number) => void
}

/**
 * Listens until it is closed, connecting again as often as it must. What is missed meanwhile is made up for by one look
 * at the log; a tick of the readers covers what a broken network hides from us.
 */
export function listenForGrowth({ url, hear }: GrowthListener): Listening {
  const ending = new AbortController()
  const { signal } = ending
  const finished = run()

  async function run(): Promise<void> {
    while (!signal.aborted) {
      // Whatever went wrong, the cure is the next connection.
      await listenOnce().catch(() => {})
      await delay(retryMs, undefined, { signal }).catch(() => {})
    }
  }

  /** One connection, from its beginning to its end. */
  async function listenOnce(): Promise<void> {
    const client = new Client({
      connectionString: url,
      connectionTimeoutMillis,
      application_name: 'ledger-gateway wake',
      keepAlive: true,
    })
    const ended = new Promise<void>((resolve) => {
      client.on('end', resolve)
      client.on('error', () => resolve())
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
    client.on('notification', ({ payload }) => hear(Number(payload)))
    try {
      await client.connect()
      await beginListening(client)
      hear(await newestSeq(client))
      await ended
    } finally {
      await client.end().catch(() => {})
    }
  }

  return {
    close: async () => {
      ending.abort()
      await finished
    },
  }
}

/** Between two attempts, in milliseconds. */
const retryMs = 500

const connectionTimeoutMillis = 5_000

import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { createOutage } from '../../lib/outage.ts'
import type { StoreNotification } from '../contract.ts'
import type { Listening, StoreLog } from '../database.ts'
import { beginListening, newestSeq, parseNotification } from '../sql/postgresql/listen.ts'
import { reasonOf } from '../unusable.ts'
import { connectionTo } from './hosts.ts'

/** Receives notifications of all processes on a PostgreSQL database. */

/** One connection that receives notifications for any number of listeners. */
export interface Notifications {
  /** Calls `listener` with each notification from now on. The first listener opens the connection. */
  listen(listener: Listener): Listening
  close(): Promise<void>
}

type Listener = (notification: StoreNotification) => void

/** Creates the notifications of the database at a URL. The first listener opens the connection. A lost connection is logged. */
export function openNotifications(url: string, log: StoreLog): Notifications {
  const listeners = new Set<Listener>()
  let connection: Listening | undefined

  function listen(listener: Listener): Listening {
    // A wrapper, because the same function may be added twice.
    const own = (notification: StoreNotification) => listener(notification)
    listeners.add(own)
    connection ??= keepListening(url, log, (notification) => {
      for (const notify of [...listeners]) notify(notification)
    })
    return {
      close: async () => {
        listeners.delete(own)
        if (listeners.size === 0) await close()
      },
    }
  }

  async function close(): Promise<void> {
    const closing = connection
    connection = undefined
    listeners.clear()
    await closing?.close()
  }

  return { listen, close }
}

/**
 * Listens until it is closed, and reconnects after each loss of the connection. After a reconnect, one read of the end of the log replaces
 * the notifications that were missed. The polls of the listeners cover a broken network that this process does not notice.
 */
function keepListening(url: string, log: StoreLog, notify: Listener): Listening {
  const outage = createOutage(log, { began: 'wake-up-lost', over: 'wake-up-back' })
  const ending = new AbortController()
  const { signal } = ending
  const finished = run()

  async function run(): Promise<void> {
    while (!signal.aborted) {
      // The next connection is the remedy for every failure.
      const failure = await listenOnce().catch((thrown: unknown) => thrown)
      if (signal.aborted) return
      outage.failed(reasonOf(failure))
      await delay(retryMs, undefined, { signal }).catch(() => {})
    }
  }

  /** Opens one connection, and listens until it ends. Resolves to, or rejects with, the reason of its end. */
  async function listenOnce(): Promise<unknown> {
    const client = new Client({
      ...connectionTo(url),
      connectionTimeoutMillis,
      query_timeout: connectionTimeoutMillis,
      application_name: 'ledger-gateway wake',
      keepAlive: true,
    })
    const { promise: ended, resolve: end } = Promise.withResolvers<unknown>()
    client.on('end', () => end('the connection ended'))
    client.on('error', (failure) => end(failure))
    signal.addEventListener('abort', end)
    client.on('notification', (notification) => {
      const parsed = parseNotification(notification)
      if (parsed !== undefined) notify(parsed)
    })
    try {
      await client.connect()
      await beginListening(client)
      notify({ topic: 'LOG_GREW', seq: await newestSeq(client) })
      outage.recovered()
      return await ended
    } finally {
      signal.removeEventListener('abort', end)
      await endWithin(client, endTimeoutMs)
    }
  }

  return {
    close: async () => {
      ending.abort()
      await finished
    },
  }
}

/** Ends a connection. Over a silent network the end would never be confirmed. */
async function endWithin(client: Client, ms: number): Promise<void> {
  const late = setTimeout(() => client.connection.stream.destroy(), ms)
  await client.end().catch(() => {})
  clearTimeout(late)
}

const endTimeoutMs = 1_000

/** Milliseconds between two attempts. */
const retryMs = 500

const connectionTimeoutMillis = 5_000

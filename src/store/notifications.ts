import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { createOutage } from '../lib/outage.ts'
import type { StoreNotification } from './contract.ts'
import type { Listening, StoreLog } from './database.ts'
import { connectionTo } from './postgresql-hosts.ts'
import { beginListening, newestSeq, newsOf } from './sql/postgresql/news.ts'
import { reasonOf } from './unusable.ts'

/** Hears on PostgreSQL what any process on the database does. */

/** One connection that listens for as many as want to know. */
export interface Notifications {
  /** Delivers notifications from now on; the first listener opens the connection. */
  listen(hear: (news: StoreNotification) => void): Listening
  close(): Promise<void>
}

/** The notifications of the database at a URL. Nothing is opened before the first subscription; a lost connection is logged. */
export function openNotifications(url: string, log: StoreLog): Notifications {
  const hearers = new Set<(news: StoreNotification) => void>()
  let connection: Listening | undefined

  function listen(hear: (news: StoreNotification) => void): Listening {
    // A function of its own, for one may be given twice.
    const hearer = (news: StoreNotification) => hear(news)
    hearers.add(hearer)
    connection ??= keepListening(url, log, (news) => {
      for (const tell of [...hearers]) tell(news)
    })
    return {
      close: async () => {
        hearers.delete(hearer)
        if (hearers.size === 0) await close()
      },
    }
  }

  async function close(): Promise<void> {
    const closing = connection
    connection = undefined
    hearers.clear()
    await closing?.close()
  }

  return { listen, close }
}

/**
 * Listens until it is closed, connecting again as often as it must. What is missed meanwhile is made up for by one look
 * at the log; the ticks of those who listen cover what a broken network hides from us.
 */
function keepListening(
  url: string,
  log: StoreLog,
  tell: (news: StoreNotification) => void,
): Listening {
  const trouble = createOutage(log, { began: 'wake-up-lost', over: 'wake-up-back' })
  const ending = new AbortController()
  const { signal } = ending
  const finished = run()

  async function run(): Promise<void> {
    while (!signal.aborted) {
      // Whatever went wrong, the cure is the next connection.
      const failure = await listenOnce().catch((thrown: unknown) => thrown)
      if (signal.aborted) return
      trouble.failed(reasonOf(failure))
      await delay(retryMs, undefined, { signal }).catch(() => {})
    }
  }

  /** One connection, from its beginning to its end; gives or throws the reason of the end. */
  async function listenOnce(): Promise<unknown> {
    const client = new Client({
      ...connectionTo(url),
      connectionTimeoutMillis,
      application_name: 'ledger-gateway wake',
      keepAlive: true,
    })
    let end = (_reason: unknown) => {}
    const ended = new Promise<unknown>((resolve) => {
      end = resolve
    })
    client.on('end', () => end('the connection ended'))
    client.on('error', (failure) => end(failure))
    signal.addEventListener('abort', end)
    client.on('notification', (notification) => {
      const news = newsOf(notification)
      if (news !== undefined) tell(news)
    })
    try {
      await client.connect()
      await beginListening(client)
      tell({ topic: 'LOG_GREW', seq: await newestSeq(client) })
      trouble.recovered()
      return await ended
    } finally {
      signal.removeEventListener('abort', end)
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

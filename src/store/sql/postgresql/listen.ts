import type { Client, Notification } from 'pg'
import type { StoreNotification } from '../../contract.ts'
import { channels } from './transaction.ts'

/** Statements of the connection that listens for notifications. It does not use Prisma, which cannot listen. */

/** Subscribes the connection to the notifications of the store. */
export async function beginListening(client: Client): Promise<void> {
  const names = Object.values(channels)
  // A session that listens is idle, and a role may have a timeout for idle sessions.
  const settings = 'SET idle_session_timeout = 0'
  await client.query([settings, ...names.map((channel) => `LISTEN ${channel}`)].join(';'))
}

/** Parses a notification. Returns `undefined` for any other message: every client of the database can send messages. */
export function parseNotification({
  channel,
  payload = '',
}: Notification): StoreNotification | undefined {
  switch (channel) {
    case channels.LOG_GREW:
      return /^[0-9]{1,15}$/.test(payload) ? { topic: 'LOG_GREW', seq: Number(payload) } : undefined
    case channels.BLOCKS_ACCEPTED:
      return { topic: 'BLOCKS_ACCEPTED' }
    case channels.LEASE_FREED:
      return { topic: 'LEASE_FREED' }
    default:
      return undefined
  }
}

/** Reads the last published position of the log; 0 before there is a log. */
export async function newestSeq(client: Client): Promise<number> {
  const { rows } = await client.query<{ seq: string }>('SELECT seq FROM published_tip')
  return Number(rows[0]?.seq ?? 0)
}

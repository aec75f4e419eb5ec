import type { Client, Notification } from 'pg'
import type { StoreNotification } from '../../contract.ts'
import { channels } from './transaction.ts'

/** The statements of the connection that listens; it is no part of Prisma, which cannot listen. */

/** From now on the connection hears what is announced. */
export async function beginListening(client: Client): Promise<void> {
  const names = Object.values(channels)
  await client.query(names.map((channel) => `LISTEN ${channel}`).join(';'))
}

/** The notification in a message; `undefined` for a message of another form, for any client of the database may send one. */
export function newsOf({ channel, payload = '' }: Notification): StoreNotification | undefined {
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

/** How far the log reaches; 0 before there is one. */
export async function newestSeq(client: Client): Promise<number> {
  const { rows } = await client.query<{ seq: string }>('SELECT seq FROM published_tip')
  return Number(rows[0]?.seq ?? 0)
}

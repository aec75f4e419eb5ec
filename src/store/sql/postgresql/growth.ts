import type { Client } from 'pg'
import { growthChannel } from './transaction.ts'

/** The statements of the connection that listens; it is no part of Prisma, which cannot listen. */

/** From now on the connection hears of commits. */
export async function beginListening(client: Client): Promise<void> {
  await client.query(`LISTEN ${growthChannel}`)
}

/** How far the log reaches; 0 before there is one. */
export async function newestSeq(client: Client): Promise<number> {
  const { rows } = await client.query<{ lastSeq: string }>(
    'SELECT "lastSeq" FROM commitments ORDER BY slot DESC LIMIT 1',
  )
  return Number(rows[0]?.lastSeq ?? 0)
}

import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'

/** Reads the lease from the database, without code of the gateway. */

/** The process that holds the lease. */
export interface WriterRow {
  readonly term: number
  /** The process id; the gateways run on this machine. */
  readonly pid: number
}

/** The time until another gateway became the writer, in milliseconds. */
export interface Takeover {
  /** The time until it had the lease. */
  readonly takenMs: number
  /** The time until it had committed a slot. */
  readonly committedMs: number
}

/** Opens a connection, calls `work` with it, and closes it. */
export async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url })
  // The server may be stopped. The next query then fails as well.
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}

/** Reads the current writer. */
export async function readWriter(client: Client): Promise<WriterRow> {
  const { rows } = await client.query<{ term: string; holder: string }>(
    'SELECT term, holder FROM writer',
  )
  const [row] = rows
  return { term: Number(row?.term), pid: Number(row?.holder.split(':')[1]) }
}

/** Measures the time from the call until a gateway of a later leader term has committed a slot. */
export function timeTakeover(url: string, formerTerm: number): Promise<Takeover> {
  const begun = performance.now()
  return withClient(url, async (client) => {
    while ((await readWriter(client)).term <= formerTerm) await delay(pollMs)
    const takenMs = performance.now() - begun
    const former = await newestSlot(client)
    while ((await newestSlot(client)) <= former) await delay(pollMs)
    return { takenMs, committedMs: performance.now() - begun }
  })
}

/** Reads the newest committed slot. */
export async function newestSlot(client: Client): Promise<number> {
  const { rows } = await client.query<{ slot: string }>('SELECT max(slot) AS slot FROM commitments')
  return Number(rows[0]?.slot)
}

/** Ends the connections on which gateways receive wake-ups, and returns their number. */
export function cutWakeUps(url: string): Promise<number> {
  return withClient(url, async (client) => {
    const { rowCount } = await client.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ledger-gateway wake'",
    )
    return rowCount ?? 0
  })
}

const pollMs = 10

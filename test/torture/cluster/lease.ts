import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'

/** Looks at the lease beside the gateways, by plain SQL. */

/** Who writes. */
export interface WriterRow {
  readonly term: number
  /** Of the process; the gateways run on this machine. */
  readonly pid: number
}

/** How long it took until another gateway wrote, in milliseconds. */
export interface Takeover {
  /** Until it had the lease. */
  readonly takenMs: number
  /** Until it had committed a slot. */
  readonly committedMs: number
}

/** A connection for one question after another. */
export async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url })
  // Its server may be stopped; the next question says it again.
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}

/** Who writes now. */
export async function readWriter(client: Client): Promise<WriterRow> {
  const { rows } = await client.query<{ term: string; holder: string }>(
    'SELECT term, holder FROM writer',
  )
  const [row] = rows
  return { term: Number(row?.term), pid: Number(row?.holder.split(':')[1]) }
}

/** Waits until a later term than this one has committed something; the clock runs from the call. */
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

/** The newest committed slot. */
export async function newestSlot(client: Client): Promise<number> {
  const { rows } = await client.query<{ slot: string }>('SELECT max(slot) AS slot FROM commitments')
  return Number(rows[0]?.slot)
}

/** Cuts the connections on which gateways hear of each other; gives how many there were. */
export function cutWakeUps(url: string): Promise<number> {
  return withClient(url, async (client) => {
    const { rowCount } = await client.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ledger-gateway wake'",
    )
    return rowCount ?? 0
  })
}

const pollMs = 10

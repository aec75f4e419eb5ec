import type { RawTx } from '../../client.ts'
import { readLease } from '../lease.ts'
import type { LeaseStatements } from '../statements.ts'
import { timelineText } from './position.ts'

/** SQL of the time by the clock of the database: Unix time in milliseconds. */
export const nowMs = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint'

export const leaseStatements: LeaseStatements = {
  async claimLease(tx, holder, ttlMs) {
    // SKIP LOCKED: a holder in the middle of a commit is alive, and the claim must not wait for it.
    const next = await tx.$queryRawUnsafe<{ term: bigint }[]>(
      `UPDATE writer SET term = writer.term + 1, holder = $1, until = ${nowMs} + $2::bigint
      FROM (SELECT id FROM writer WHERE id = 1 AND until <= ${nowMs} FOR UPDATE SKIP LOCKED) AS free
      WHERE writer.id = free.id
      RETURNING writer.term`,
      holder,
      ttlMs,
    )
    if (next[0] !== undefined) return Number(next[0].term)
    // Inserts only if there is no row: even an insert that does nothing waits for a transaction that changes the row.
    const first = await tx.$queryRawUnsafe<{ term: bigint }[]>(
      `INSERT INTO writer (id, term, holder, until, "openFrom", "nextInbox")
      SELECT 1, 1, $1, ${nowMs} + $2::bigint, 0, 1
      WHERE NOT EXISTS (SELECT FROM writer)
      ON CONFLICT (id) DO NOTHING
      RETURNING term`,
      holder,
      ttlMs,
    )
    return first[0] === undefined ? undefined : Number(first[0].term)
  },

  readLease: (tx) => readLease(tx, nowMs),

  // The weakest lock: a claim of the lease needs the strongest lock and fails. A process that puts blocks into the inbox
  // updates the same row and is not blocked.
  async lockLease(tx, term) {
    const rows = await tx.$queryRawUnsafe<object[]>(
      'SELECT FROM writer WHERE id = 1 AND term = $1 FOR KEY SHARE',
      term,
    )
    return rows.length > 0
  },

  prolongLease: (tx, term, ttlMs) => prolong(tx, { term, ttlMs, also: '' }),

  // The first renewal after a failover shows replicas that they have followed (`position.ts`).
  renewLease: (tx, term, ttlMs) =>
    prolong(tx, { term, ttlMs, also: `, timeline = ${timelineText}` }),
}

async function prolong(
  tx: RawTx,
  { term, ttlMs, also }: { readonly term: number; readonly ttlMs: number; readonly also: string },
): Promise<boolean> {
  const count = await tx.$executeRawUnsafe(
    `UPDATE writer SET until = ${nowMs} + $1::bigint${also} WHERE id = 1 AND term = $2`,
    ttlMs,
    term,
  )
  return count === 1
}

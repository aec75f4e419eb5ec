import type { RawTx } from '../../client.ts'
import type { LeaseStatements } from '../statements.ts'
import { timelineText } from './position.ts'

export const leaseStatements: LeaseStatements = {
  async claimLease(tx, holder, ttlMs) {
    // SKIP LOCKED: a holder in the middle of a commit is alive, and the claim must not wait for it.
    const next = await tx.$queryRaw<{ term: bigint }[]>`
      UPDATE writer SET term = writer.term + 1, holder = ${holder},
        until = (extract(epoch FROM clock_timestamp()) * 1000)::bigint + ${ttlMs}::bigint
      FROM (
        SELECT id FROM writer
        WHERE id = 1 AND until <= (extract(epoch FROM clock_timestamp()) * 1000)::bigint
        FOR UPDATE SKIP LOCKED
      ) AS free
      WHERE writer.id = free.id
      RETURNING writer.term`
    if (next[0] !== undefined) return Number(next[0].term)
    // Inserts only if there is no row: even an insert that does nothing waits for a transaction that changes the row.
    const first = await tx.$queryRaw<{ term: bigint }[]>`
      INSERT INTO writer (id, term, holder, until, "openFrom", "nextInbox")
      SELECT 1, 1, ${holder},
        (extract(epoch FROM clock_timestamp()) * 1000)::bigint + ${ttlMs}::bigint, 0, 1
      WHERE NOT EXISTS (SELECT FROM writer)
      ON CONFLICT (id) DO NOTHING
      RETURNING term`
    return first[0] === undefined ? undefined : Number(first[0].term)
  },

  async readLease(tx) {
    const [row] = await tx.$queryRaw<{ term: bigint; holder: string; leftMs: bigint }[]>`
      SELECT term, holder,
        until - (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS "leftMs"
      FROM writer WHERE id = 1`
    return row && { term: Number(row.term), holder: row.holder, leftMs: Number(row.leftMs) }
  },

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
    `UPDATE writer
    SET until = (extract(epoch FROM clock_timestamp()) * 1000)::bigint + $1::bigint${also}
    WHERE id = 1 AND term = $2`,
    ttlMs,
    term,
  )
  return count === 1
}

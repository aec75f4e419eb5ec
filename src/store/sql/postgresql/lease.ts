import type { LeaseStatements } from '../statements.ts'

/** The lease on PostgreSQL. */
export const leaseStatements: LeaseStatements = {
  async claimLease(tx, holder, ttlMs) {
    const first = await tx.$queryRaw<{ term: bigint }[]>`
      INSERT INTO writer (id, term, holder, until, "openFrom", "nextInbox")
      VALUES (1, 1, ${holder},
        (extract(epoch FROM clock_timestamp()) * 1000)::bigint + ${ttlMs}::bigint, 0, 1)
      ON CONFLICT (id) DO NOTHING
      RETURNING term`
    if (first[0] !== undefined) return Number(first[0].term)
    // Skipped when locked: a holder in the middle of a commit lives, and need not be waited for.
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
    return next[0] === undefined ? undefined : Number(next[0].term)
  },

  async prolongLease(tx, term, ttlMs) {
    const count = await tx.$executeRaw`
      UPDATE writer
      SET until = (extract(epoch FROM clock_timestamp()) * 1000)::bigint + ${ttlMs}::bigint
      WHERE id = 1 AND term = ${term}`
    return count === 1
  },
}

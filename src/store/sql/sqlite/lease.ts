import type { RawTx } from '../../client.ts'
import { readLease } from '../lease.ts'
import type { LeaseStatements } from '../statements.ts'

/** SQL of the time by the clock of the database: Unix time in milliseconds. */
export const nowMs = "CAST(unixepoch('subsec') * 1000 AS INTEGER)"

export const leaseStatements: LeaseStatements = {
  async claimLease(tx, holder, ttlMs) {
    const text = `INSERT INTO writer (id, term, holder, until, "openFrom", "nextInbox")
      VALUES (1, 1, ?, ${nowMs} + ?, 0, 1)
      ON CONFLICT (id) DO UPDATE
        SET term = writer.term + 1, holder = excluded.holder, until = excluded.until
        WHERE writer.until <= ${nowMs}
      RETURNING term`
    const rows = await tx.$queryRawUnsafe<{ term: bigint }[]>(text, holder, ttlMs)
    return rows[0] === undefined ? undefined : Number(rows[0].term)
  },

  readLease: (tx) => readLease(tx, nowMs),

  // An update and not a read: a transaction must begin with a write, or another process may write between its first read and
  // its first write.
  async lockLease(tx, term) {
    const same = 'UPDATE writer SET term = term WHERE id = 1 AND term = ?'
    return (await tx.$executeRawUnsafe(same, term)) > 0
  },

  prolongLease: prolong,
  renewLease: prolong,
}

async function prolong(tx: RawTx, term: number, ttlMs: number): Promise<boolean> {
  const later = `UPDATE writer SET until = ${nowMs} + ? WHERE id = 1 AND term = ?`
  return (await tx.$executeRawUnsafe(later, ttlMs, term)) === 1
}

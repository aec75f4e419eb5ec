import type { RawTx } from '../../client.ts'
import type { LeaseStatements } from '../statements.ts'

export const leaseStatements: LeaseStatements = {
  async claimLease(tx, holder, ttlMs) {
    const rows = await tx.$queryRaw<{ term: bigint }[]>`
      INSERT INTO writer (id, term, holder, until, "openFrom", "nextInbox")
      VALUES (1, 1, ${holder}, CAST(unixepoch('subsec') * 1000 AS INTEGER) + ${ttlMs}, 0, 1)
      ON CONFLICT (id) DO UPDATE
        SET term = writer.term + 1, holder = excluded.holder, until = excluded.until
        WHERE writer.until <= CAST(unixepoch('subsec') * 1000 AS INTEGER)
      RETURNING term`
    return rows[0] === undefined ? undefined : Number(rows[0].term)
  },

  async readLease(tx) {
    const [row] = await tx.$queryRaw<{ term: bigint; holder: string; leftMs: bigint }[]>`
      SELECT term, holder, until - CAST(unixepoch('subsec') * 1000 AS INTEGER) AS "leftMs"
      FROM writer WHERE id = 1`
    return row && { term: Number(row.term), holder: row.holder, leftMs: Number(row.leftMs) }
  },

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
  const later = `UPDATE writer SET until = CAST(unixepoch('subsec') * 1000 AS INTEGER) + ?
    WHERE id = 1 AND term = ?`
  return (await tx.$executeRawUnsafe(later, ttlMs, term)) === 1
}

import type { RawTx } from '../client.ts'
import type { LeaseState } from '../contract/lease.ts'

/** Reads the lease. `now` is the SQL of the current Unix time in milliseconds. */
export async function readLease(tx: RawTx, now: string): Promise<LeaseState | undefined> {
  const [row] = await tx.$queryRawUnsafe<{ term: bigint; holder: string; leftMs: bigint }[]>(
    `SELECT term, holder, until - ${now} AS "leftMs" FROM writer WHERE id = 1`,
  )
  return row && { term: Number(row.term), holder: row.holder, leftMs: Number(row.leftMs) }
}

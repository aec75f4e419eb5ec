import type { Database } from '../../../src/store/database.ts'
import { statementsToPublish } from '../../support/published-tip.ts'

/** A log in which one address has ten million rows, created by SQL statements; SQLite only. */

/** The address with five of six rows. */
export const busyAddress = hexOf(0)

/** The number of other addresses, which have equal shares of the remaining rows. */
const others = 2_000

/** The rows per milestone. */
const slotRows = 100

/** Creates the rows 1 to `rows`, and their milestones from 1 on. The store must not have rows. */
export async function growLog({ writer }: Database, rows: number): Promise<void> {
  for (let first = 1; first <= rows; first += rowsPerStep) {
    const last = Math.min(first + rowsPerStep - 1, rows)
    // Within a milestone, rows are in the order of their output ids, as the ledger writes them.
    await writer.$executeRawUnsafe(`
      INSERT INTO ledger_updates
        (seq, address, class, ordinal, roles, "milestoneIndex", "outputId", "isSpent", "historyHash")
      SELECT i, unhex(printf('00%064x', ${who} * 2654435761 % 4294967296)), 0, i, 1,
        ${slotOf('i')}, CAST(unhex(printf('%032x', i)) || randomblob(20) || X'0000' AS BLOB), i % 2 = 0, randomblob(32)
      FROM (${numbers(first, last)})`)
  }
  await writer.$executeRawUnsafe(`
    INSERT INTO commitments (slot, id, bytes, "firstSeq", "lastSeq")
    SELECT i, randomblob(36), zeroblob(89), (i - 1) * ${slotRows} + 1, min(i * ${slotRows}, ${rows})
    FROM (${numbers(1, Math.ceil(rows / slotRows))})`)
  for (const sql of statementsToPublish('sqlite')) await writer.$executeRawUnsafe(sql)
  await writer.$queryRawUnsafe('PRAGMA wal_checkpoint(TRUNCATE)')
}

/** The rows per statement. */
const rowsPerStep = 500_000

const who = `(CASE WHEN i % 6 > 0 THEN 0 ELSE 1 + (i * 1103515245 + 12345) / 7 % ${others} END)`

function slotOf(seq: string): string {
  return `(${seq} - 1) / ${slotRows} + 1`
}

function numbers(first: number, last: number): string {
  return `WITH RECURSIVE n (i) AS (SELECT ${first} UNION ALL SELECT i + 1 FROM n WHERE i < ${last}) SELECT i FROM n`
}

function hexOf(n: number): `0x${string}` {
  return `0x00${n.toString(16).padStart(64, '0')}`
}

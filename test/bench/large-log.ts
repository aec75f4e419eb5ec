import type { Hex } from '../../src/lib/hex.ts'
import type { Database } from '../../src/store/database.ts'
import { statementsToPublish } from '../support/published-tip.ts'

/** Logs of many rows for benchmarks. SQL statements create the rows, because commits would take hours. */

/** An address of a large log: 33 bytes, distributed by a multiplication that is also possible in SQL. */
export function addressOf(n: number): Hex {
  const spread = (BigInt(n) * 2_654_435_761n) % 2n ** 32n
  return `0x00${spread.toString(16).padStart(64, '0')}`
}

/** The address that has every tenth row of the log. */
export const busyAddress = addressOf(0)

/** The number of other addresses in a log of `rows` rows. */
export function addressesFor(rows: number): number {
  return Math.ceil(rows / 10)
}

/** A part of the log, all in one slot. */
export interface LogPart {
  readonly from: number
  readonly to: number
  readonly slot: number
}

/** Creates the rows, with pseudo-random addresses, and their slot. */
export async function growLog({ kind, writer }: Database, part: LogPart): Promise<void> {
  const { from, to, slot } = part
  const words = kind === 'sqlite' ? sqliteWords : postgresqlWords
  const addresses = addressesFor(to)
  for (let first = from; first <= to; first += rowsPerStep) {
    const last = Math.min(first + rowsPerStep - 1, to)
    const place = `CASE WHEN i % 10 = 0 THEN 0 ELSE 1 + (i * 1103515245 + 12345) % ${addresses} END`
    await writer.$executeRawUnsafe(`
      INSERT INTO ledger_updates
        (seq, address, class, ordinal, roles, "milestoneIndex", "outputId", "isSpent", "historyHash")
      SELECT i, ${words.address(`(${place})`)}, 0, 1 + i / 10, 1, ${slot}, ${words.bytes('i', 38)},
        i % 2 = 0, ${words.bytes('i + 1', 32)}
      FROM ${words.numbers(first, last)} ORDER BY i`)
  }
  const columns = { slot: BigInt(slot), firstSeq: BigInt(from), lastSeq: BigInt(to) }
  const bytes = new Uint8Array(89).fill(slot)
  await writer.commitment.create({ data: { ...columns, id: bytes.slice(0, 36), bytes } })
  for (const sql of statementsToPublish(kind)) await writer.$executeRawUnsafe(sql)
}

/** The rows per statement. */
const rowsPerStep = 500_000

const sqliteWords = {
  numbers: (first: number, last: number) =>
    `(WITH RECURSIVE n (i) AS (SELECT ${first} UNION ALL SELECT i + 1 FROM n WHERE i < ${last}) SELECT i FROM n)`,
  address: (n: string) => `unhex(printf('00%064x', ${n} * 2654435761 % 4294967296))`,
  bytes: (_n: string, length: number) => `randomblob(${length})`,
}

const postgresqlWords = {
  numbers: (first: number, last: number) =>
    `generate_series(${first}::bigint, ${last}::bigint) AS numbers (i)`,
  address: (n: string) =>
    `decode('00' || lpad(to_hex(${n}::bigint * 2654435761 % 4294967296), 64, '0'), 'hex')`,
  bytes: (n: string, length: number) =>
    `substring(sha256(int8send(${n})) || sha256(int8send(-(${n}))) FROM 1 FOR ${length})`,
}

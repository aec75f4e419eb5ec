import { bytesToHex } from '../../../src/lib/hex.ts'
import { Output } from '../../../src/protocol/outputs.ts'
import { encode } from '../../../src/protocol/schema/schema.ts'
import type { Database } from '../../../src/store/database.ts'
import { parsed } from '../../support/parsed.ts'

/** Ledgers of many unspent outputs for benchmarks, made by the database itself: by commits it would take hours. */

/**
 * Adds unspent outputs to a ledger that no process writes, spread over the slots committed so far: the rows that start
 * and commits read. The log has no rows of them, so they cannot be spent. The next writer builds the tries anew before it commits.
 */
export async function growUnspent({ kind, writer }: Database, count: number): Promise<void> {
  const words = kind === 'sqlite' ? sqliteWords : postgresqlWords
  const bytes = words.literal(bytesToHex(encode(Output, output)).slice(2))
  const newest = await writer.commitment.findFirstOrThrow({ orderBy: { slot: 'desc' } })
  const { count: former } = await countOf(writer)
  // In the order of the ids, so that each page of the tables is written once: at random places ten million rows take hours.
  const step = 2n ** 63n / BigInt(Math.max(count, 1)) - 1n
  for (let first = 1; first <= count; first += rowsPerStep) {
    const last = Math.min(first + rowsPerStep - 1, count)
    const numbers = words.numbers(first, last)

    await writer.$executeRawUnsafe(`
      INSERT INTO outputs (id, bytes, "blockId", "bookedSlot", kind)
      SELECT ${words.outputId(`(i * ${step}) << 1`, `${former} + i`)}, ${bytes}, ${words.literal('')}, i % ${newest.slot + 1n}, 0
      FROM ${numbers}`)
  }
  await writer.$executeRawUnsafe(`
    INSERT INTO unspent_outputs ("outputId", kind, "bookedSlot", "hasReturn", "hasToken")
    SELECT id, kind, "bookedSlot", false, false FROM outputs WHERE bytes = ${bytes} ORDER BY id
    ON CONFLICT DO NOTHING`)
  await writer.$executeRawUnsafe('DELETE FROM trie_state')
  await writer.$executeRawUnsafe(
    `UPDATE output_counts SET outputs = outputs + ${count} WHERE kind = 0`,
  )
}

/** How many outputs there are. */
async function countOf(writer: Database['writer']): Promise<{ readonly count: number }> {
  return { count: await writer.output.count() }
}

/** A statement of a million rows takes seconds, and a transaction of the client at most five. */
const rowsPerStep = 100_000

const output = parsed(Output, {
  type: 0,
  amount: '1000000',
  mana: '0',
  unlockConditions: [{ type: 0, address: { type: 0, pubKeyHash: `0x${'5c'.repeat(32)}` } }],
})

const sqliteWords = {
  numbers: (first: number, last: number) =>
    `(WITH RECURSIVE n (i) AS (SELECT ${first} UNION ALL SELECT i + 1 FROM n WHERE i < ${last}) SELECT i FROM n)`,
  literal: (hex: string) => `X'${hex}'`,
  outputId: (place: string, _n: string) =>
    `CAST(unhex(printf('%016x', ${place})) || randomblob(24) || X'010000000000' AS BLOB)`,
}

const postgresqlWords = {
  numbers: (first: number, last: number) =>
    `generate_series(${first}::bigint, ${last}::bigint) AS numbers (i)`,
  literal: (hex: string) => `'\\x${hex}'::bytea`,
  outputId: (place: string, n: string) =>
    `int8send(${place}) || substring(sha256(int8send(${n})) for 24) || '\\x010000000000'::bytea`,
}

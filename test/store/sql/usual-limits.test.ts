import { hash } from 'node:crypto'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { present } from '../../../src/lib/assert.ts'
import { openWatch } from '../../../src/store/postgresql/database.ts'
import { chainReads } from '../../../src/store/sql/chain-reads.ts'
import { ownedRead } from '../../../src/store/sql/owned.ts'
import { dialect } from '../../../src/store/sql/postgresql/dialect.ts'
import { createReading } from '../../../src/store/sql/reading.ts'
import { databases } from '../../support/databases.ts'

/** Statements reach PostgreSQL in a form that it plans once: with usual limits in their text, and lists of unknown length. */

const address = `0x${'01'.repeat(33)}` as const
const rows = 60
/** PostgreSQL plans the first five executions for their values, and then compares the plans. */
const executions = 12

test('PostgreSQL plans a page of a usual length once, and every length returns its rows', async () => {
  const database = await present(databases[1], 'PostgreSQL').create()
  const client = new Client(database.url)
  await client.connect()
  // There is one connection, so its prepared statements are those of the reads.
  const reads = openWatch(database.url, 5_000)
  try {
    await client.query(`INSERT INTO ledger_updates
      (seq, address, class, ordinal, roles, "milestoneIndex", "outputId", "isSpent", "historyHash", balance)
      SELECT n, CASE WHEN n <= ${rows} THEN decode(repeat('01', 33), 'hex') ELSE '\\xaa' END, 0, n, 1, 1, '\\x00', false, '\\x00', 0
      FROM generate_series(1, 20000) AS n`)
    await client.query("INSERT INTO published_tip VALUES (1, 0, '', 20000, '', 0, '')")
    await client.query('ANALYZE ledger_updates')
    const read = ownedRead(createReading({ ...reads, statements: { dialect } as never }))
    for (const limit of [21, 22, 1]) {
      const page = { address, order: 'ascending', from: { seq: 31 }, limit } as const
      for (let n = 0; n < executions; n++) {
        const seqs = (await read(page))?.map(({ seq }) => seq)
        expect(seqs).toEqual(Array.from({ length: limit }, (_, i) => 31 + i))
      }
    }
    const prepared = await reads.query(
      `SELECT substring(statement FROM 'LIMIT (\\S+)$'), generic_plans, custom_plans FROM pg_prepared_statements
        WHERE statement ~ 'LIMIT \\S+$' ORDER BY 1`,
      [],
    )
    expect(prepared.map(([limit]) => limit)).toEqual(['$3', '21'].sort())
    const [, generic, custom] = present(
      prepared.find(([limit]) => limit === '21'),
      'the usual one',
    )
    expect({ generic, custom }).toEqual({ generic: executions - 5, custom: 5 })
  } finally {
    await reads.close()
    await client.end()
    await database.remove()
  }
})

test('PostgreSQL plans a read by keys once, whatever the number of keys', async () => {
  const database = await present(databases[1], 'PostgreSQL').create()
  const client = new Client(database.url)
  await client.connect()
  const reads = openWatch(database.url, 5_000)
  try {
    const id = "sha256(int8send(n)) || '\\x000000000000'::bytea"
    await client.query(`INSERT INTO outputs (id, bytes, "blockId", "bookedSlot", kind)
      SELECT ${id}, '\\x00', '\\x', 1, 4 FROM generate_series(1, 20000) AS n`)
    await client.query(`INSERT INTO chain_states ("chainId", ordinal, kind, "bookedSlot", "outputId")
      SELECT sha256(int8send(n)), 1, 4, 1, ${id} FROM generate_series(1, 20000) AS n`)
    await client.query("INSERT INTO published_tip VALUES (1, 0, '', 0, '', 0, '')")
    await client.query('ANALYZE')
    const chainIds = Array.from({ length: executions }, (_, n) => {
      const bytes = Buffer.alloc(8)
      bytes.writeBigInt64BE(BigInt(n + 1))
      return `0x${hash('sha256', bytes)}` as const
    })
    const { newestChainStates } = chainReads(
      createReading({ ...reads, statements: { dialect } as never }),
    )
    for (const chainId of chainIds) {
      const states = await newestChainStates([chainId])
      expect(states.map((state) => state.chainId)).toEqual([chainId])
    }
    expect((await newestChainStates(chainIds)).length).toBe(executions)
    const prepared = await reads.query(
      "SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE statement LIKE '%max' || '(own%'",
      [],
    )
    expect(prepared).toEqual([[executions + 1 - 5, 5]])
  } finally {
    await reads.close()
    await client.end()
    await database.remove()
  }
})

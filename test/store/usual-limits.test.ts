import { Client } from 'pg'
import { expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { openWatch } from '../../src/store/postgresql.ts'
import { ownedRead } from '../../src/store/sql/owned.ts'
import { dialect } from '../../src/store/sql/postgresql/dialect.ts'
import { createReading } from '../../src/store/sql/reading.ts'
import { databases } from '../support/databases.ts'

/** How statements reach PostgreSQL: with usual limits in their text, so that it plans them once. */

const address = `0x${'01'.repeat(33)}` as const
const rows = 60
/** It plans for the values of the first five, and then compares. */
const asked = 12

test('PostgreSQL plans a page of a usual length once, and every length has its rows', async () => {
  const database = await present(databases[1], 'PostgreSQL').create()
  const client = new Client(database.url)
  await client.connect()
  // One connection: what it has prepared is what was asked.
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
      for (let n = 0; n < asked; n++) {
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
    expect({ generic, custom }).toEqual({ generic: asked - 5, custom: 5 })
  } finally {
    await reads.close()
    await client.end()
    await database.remove()
  }
})

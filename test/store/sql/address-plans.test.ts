import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { present } from '../../../src/lib/assert.ts'
import type { Database } from '../../../src/store/database.ts'
import type { Dialect } from '../../../src/store/sql/bulk.ts'
import { ownedStatements } from '../../../src/store/sql/owned.ts'
import { dialect as postgresqlDialect } from '../../../src/store/sql/postgresql/dialect.ts'
import { createReading } from '../../../src/store/sql/reading.ts'
import { slotReads } from '../../../src/store/sql/slot-reads.ts'
import { dialect as sqliteDialect } from '../../../src/store/sql/sqlite/dialect.ts'
import { tipsText } from '../../../src/store/sql/sqlite/tips.ts'
import { logReads } from '../../../src/store/sql/updates.ts'
import { databases, openedStore } from '../../support/databases.ts'

const few = `0x${'01'.repeat(33)}` as const

/** Returns the statements of the reads of an address. */
async function textsOfReads(dialect: Dialect): Promise<readonly string[]> {
  const texts: string[] = []
  const query = async (text: string) => {
    texts.push(text)
    return []
  }
  const queryBoth = async (first: string, second: string) => {
    texts.push(first, second)
    return []
  }
  const statements = { dialect } as Database['statements']
  const reading = createReading({ query, queryBoth, statements })
  const log = logReads(reading)
  for (const order of ['ascending', 'descending'] as const) {
    const range = { address: few, after: 0, before: 9, limit: 9, order }
    await log.ofAddress({ ...range, classes: [] }, 'OWNED')
    const page = { ...range, class: 'OWNED' } as const
    const cursors = { behind: [1, 2], seqs: [1, 2] } as const
    await log.page(page).catch(() => {})
    await log.page({ ...page, cursors }).catch(() => {})
  }
  await slotReads(reading).addressTip(few, 'OWNED')
  const { ascending, descending } = ownedStatements(dialect)
  return [...texts, ...Object.values(ascending), ...Object.values(descending)]
}

/** Almost all rows belong to one address. The statements are planned without their values, like prepared statements. */
test('on PostgreSQL no read of an address scans the log of the other addresses, or sorts rows', async ({
  skip,
}) => {
  const database = await present(databases[1], 'PostgreSQL').create()
  const client = new Client(database.url)
  await client.connect()
  try {
    const { rows: versions } = await client.query('SHOW server_version_num')
    skip(versions[0].server_version_num < 160_000, 'PostgreSQL explains a generic plan from 16 on')
    await client.query(`INSERT INTO ledger_updates
      (seq, address, class, ordinal, roles, "milestoneIndex", "outputId", "isSpent", "historyHash", balance)
      SELECT n, CASE WHEN n <= 10 THEN decode(repeat('01', 33), 'hex') ELSE '\\xaa' END, 0, n, 1, 1, '\\x00', false, '\\x00', 0
      FROM generate_series(1, 100000) AS n`)
    await client.query('ANALYZE ledger_updates')
    for (const text of await textsOfReads(postgresqlDialect)) {
      let last = 0
      const numbered = text.replaceAll(/\?(\d*)/g, (_mark, n) => `$${n === '' ? ++last : n}`)
      const { rows } = await client.query(`EXPLAIN (GENERIC_PLAN, COSTS OFF) ${numbered}`)
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
      expect(plan, text).not.toMatch(
        /ledger_updates_pkey|Seq Scan on ledger_updates|Sort Key: (near|ledger_updates)/,
      )
    }
  } finally {
    await client.end()
    await database.remove()
  }
})

test('on SQLite the index of an address has all columns that its pages need, so none reads a row of the table', async () => {
  const database = await present(databases[0], 'SQLite').create()
  await (await openedStore(database.url)).close()
  const file = new DatabaseSync(database.url.slice('file:'.length), { readOnly: true })
  try {
    for (const text of [...(await textsOfReads(sqliteDialect)), tipsText]) {
      const steps = file.prepare(`EXPLAIN QUERY PLAN ${text}`).all()
      const plan = steps.map(({ detail }) => detail).join('\n')
      expect(plan, text).not.toMatch(
        /(?<!COVERING )INDEX (sqlite_autoindex_)?ledger_updates|INTEGER PRIMARY KEY|SCAN ledger_updates/,
      )
    }
  } finally {
    file.close()
    await database.remove()
  }
})

import fc from 'fast-check'
import { Client } from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { present } from '../../../src/lib/assert.ts'
import { createLogForms } from '../../../src/store/partitions/log-forms.ts'
import { partitionedReads } from '../../../src/store/partitions/partitioned-reads.ts'
import { openWatch } from '../../../src/store/postgresql/database.ts'
import type { PostgresqlReads } from '../../../src/store/postgresql/reads.ts'
import { ownedRead } from '../../../src/store/sql/owned.ts'
import { formOfRows, formText } from '../../../src/store/sql/postgresql/partitions.ts'
import { postgresqlStatements } from '../../../src/store/sql/postgresql/statements.ts'
import { createReading, type Reading } from '../../../src/store/sql/reading.ts'
import { logReads } from '../../../src/store/sql/updates.ts'
import { databases } from '../../support/databases.ts'
import { matching, seqsOf } from '../../support/feed-log.ts'
import { addresses, type LogStore, openLogStore, outputIdOf } from '../../support/log-store.ts'
import { partitioned } from '../../support/partitioned.ts'
import { until } from '../../support/until.ts'

/** Tests the statements that PostgreSQL receives when the log is one table and when it is partitioned. */

const postgresql = present(databases[1], 'PostgreSQL')
const [busy = '0x', rare = '0x', unknown = '0x'] = addresses
const everything = { after: 0, before: Number.MAX_SAFE_INTEGER } as const
const width = 10

let log: LogStore
let client: Client
let reads: PostgresqlReads
/** The statements as the server receives them, except those that read the form of the log. */
let statements: string[]
let reading: Reading

beforeEach(async () => {
  log = await openLogStore(postgresql)
  client = new Client(log.url)
  await client.connect()
  reads = openWatch(log.url, 5_000)
  statements = []
  const forms = createLogForms(async () => formOfRows(await reads.query(formText, [])))
  const recorded = partitionedReads(recording(reads, statements), forms)
  reading = createReading({ ...recorded, statements: postgresqlStatements })
})
afterEach(async () => {
  await reads.close()
  await client.end()
  await log.close()
})

type Reads = Pick<PostgresqlReads, 'query' | 'queryBoth' | 'snapshotConnection'>

function recording(reads: Reads, texts: string[]): Reads {
  return {
    ...reads,
    query: (sql, parameters) => {
      texts.push(sql)
      return reads.query(sql, parameters)
    },
    queryBoth: (first, second, parameters) => {
      texts.push(first, second)
      return reads.queryBoth(first, second, parameters)
    },
  }
}

/** Commits slots with one row each: most rows belong to one address, and every seventh to another one. */
async function commitRows(count: number): Promise<void> {
  const first = log.rows.length + 1
  for (let i = first; i < first + count; i++) {
    const address = i % 7 === 0 ? rare : busy
    const outputId = outputIdOf('11', i)
    await log.commit([{ address, class: 'OWNED', roles: ['OWNER'], outputId, isSpent: false }])
  }
}

/** Waits until the reads know that the log is partitioned. */
async function knownPartitioned(): Promise<void> {
  await until(async () => {
    await reading.query('SELECT 1', [])
    return (reading.logForms?.named().length ?? 0) > 0
  })
  statements.length = 0
}

const order = fc.constantFrom<'ascending' | 'descending'>('ascending', 'descending')

async function runAll(reading: Reading): Promise<void> {
  const { ofAddress, ofLog, atSeqs, page } = logReads(reading)
  for (const order of ['ascending', 'descending'] as const) {
    const range = { ...everything, limit: 21, order, classes: ['OWNED'] as const }
    await ofAddress({ ...range, address: busy }, 'OWNED')
    await ofLog(range)
    await page({ ...range, address: busy, class: 'OWNED' })
    const cursors = { behind: [5, 6], seqs: [5, 0] } as const
    await page({ ...range, address: busy, class: 'OWNED', cursors })
    for (const from of [undefined, { seq: 3 }, { slot: 3 }])
      await ownedRead(reading)({ address: busy, order, limit: 21, from })
  }
  await atSeqs([1, 2])
}

test('a log in one table receives exactly the texts of the program', async () => {
  await commitRows(9)
  await runAll(reading)
  const texts: string[] = []
  const bare = { ...recording(reads, texts), statements: postgresqlStatements }
  await runAll(createReading(bare))
  expect(statements).toEqual(texts)
  expect(statements.join()).not.toMatch(/LOCK|IS NOT TRUE|ledger_updates_/)
})

describe('a log in partitions', () => {
  beforeEach(async () => {
    await partitioned(log.url, { rows: width })
    await commitRows(45)
    await knownPartitioned()
  })

  test('reads a page from the partition where the page begins, and the missing rows from the whole log', async () => {
    const { ofAddress, page } = logReads(reading)
    const range = { ...everything, address: busy, limit: 3, order: 'ascending' as const }
    const tables = () => [
      ...new Set(
        statements
          .splice(0)
          .flatMap((text) => [...text.matchAll(/FROM "?(ledger_updates\w*)/g)])
          .map(([, table]) => table),
      ),
    ]
    await ofAddress({ ...range, after: 21, classes: ['OWNED'] }, 'OWNED')
    expect(tables()).toEqual(['ledger_updates_21_to_30'])
    await page({ ...range, after: 21, class: 'OWNED' })
    expect(tables().sort()).toEqual(['ledger_updates_21_to_30', 'ledger_updates_41_to_50'])
    await ofAddress({ ...range, after: 41, classes: ['OWNED'] }, 'OWNED')
    expect(tables()).toEqual(['ledger_updates_41_to_50'])
    await ofAddress({ ...range, after: 27, classes: ['OWNED'] }, 'OWNED')
    expect(tables()).toEqual(['ledger_updates_21_to_30', 'ledger_updates'])
  })

  test('returns every page of an address across borders, with its count and whether rows precede it', async () => {
    const { page } = logReads(reading)
    const owned = ownedRead(reading)
    const anyPage = fc.record({
      address: fc.constantFrom(busy, rare, unknown),
      cursor: fc.nat({ max: 50 }),
      limit: fc.integer({ min: 1, max: 30 }),
      order,
    })
    await fc.assert(
      fc.asyncProperty(anyPage, async ({ address, cursor, limit, order }) => {
        const all = matching(log.rows, { addresses: [address], classes: ['OWNED'] })
        const isBehind = ({ seq }: { readonly seq: number }) =>
          order === 'ascending' ? seq <= cursor : seq >= cursor
        const rest = all.filter((row) => !isBehind(row))
        const turned = (order === 'ascending' ? rest : rest.reverse()).slice(0, limit)
        const range =
          order === 'ascending'
            ? { ...everything, after: cursor }
            : { ...everything, before: cursor }
        const behind =
          order === 'ascending'
            ? ([1, cursor] as const)
            : ([cursor, Number.MAX_SAFE_INTEGER] as const)
        const found = await page({
          ...{ ...range, address, class: 'OWNED', order, limit },
          cursors: { behind, seqs: [cursor, 0] },
        })
        expect(seqsOf(found.rows)).toEqual(seqsOf(turned))
        expect(found.count).toBe(all.length)
        expect(found.hasRowsBehind).toBe(all.some(isBehind))
        const seq = order === 'ascending' ? cursor + 1 : cursor - 1
        const listed = await owned({ address, order, limit, from: { seq } })
        expect(listed?.map((row) => row.seq)).toEqual(seqsOf(turned))
      }),
      { numRuns: 150 },
    )
  })

  test('is read as a whole when a partition was renamed since', async () => {
    const { ofAddress, page } = logReads(reading)
    const range = { ...everything, address: busy, limit: 5, order: 'descending' as const }
    const rows = seqsOf(await ofAddress({ ...range, classes: ['OWNED'] }, 'OWNED'))
    statements.length = 0
    await reading.query('SELECT 1', [])
    await client.query('ALTER TABLE ledger_updates_41_to_50 RENAME TO another')
    expect(seqsOf(await ofAddress({ ...range, classes: ['OWNED'] }, 'OWNED'))).toEqual(rows)
    expect(seqsOf((await page({ ...range, class: 'OWNED' })).rows)).toEqual(rows)
  })

  test('returns rows that were committed to a partition that the process does not know', async () => {
    const { ofAddress, ofLog, page } = logReads(reading)
    const range = { ...everything, limit: 3, order: 'descending' as const }
    await reading.query('SELECT 1', [])
    await commitRows(20)
    const newest = log.rows.filter(({ address }) => address === busy).slice(-3)
    expect(seqsOf((await page({ ...range, address: busy, class: 'OWNED' })).rows)).toEqual(
      seqsOf(newest.toReversed()),
    )
    expect(
      seqsOf(await ofAddress({ ...range, address: busy, classes: ['OWNED'] }, 'OWNED')),
    ).toEqual(seqsOf(newest.toReversed()))
    expect(seqsOf(await ofLog({ ...range, classes: ['OWNED', 'MENTIONED'] }))).toEqual([65, 64, 63])
  })
})

import fc from 'fast-check'
import { Client } from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { present } from '../../../src/lib/assert.ts'
import {
  type LedgerUpdatesRequest,
  listLedgerUpdates,
} from '../../../src/service/updates/list-ledger-updates.ts'
import { maxNamedAgeMs } from '../../../src/store/partitions/log-forms.ts'
import { firstEnd } from '../../../src/store/partitions/partition-log.ts'
import { rangesOf } from '../../../src/store/partitions/split-partitions.ts'
import { databases, openedStore } from '../../support/databases.ts'
import { expectAnyRange, seqsOf } from '../../support/feed-log.ts'
import {
  addresses,
  fixedParameters,
  type LogStore,
  openLogStore,
  outputIdOf,
  slotEntries,
  unwrap,
} from '../../support/log-store.ts'
import { partition, partitioned } from '../../support/partitioned.ts'
import { until } from '../../support/until.ts'

/** Tests the log of PostgreSQL in partitions by position. */

const postgresql = present(databases[1], 'PostgreSQL')
const [owner = '0x'] = addresses

let log: LogStore
let client: Client

beforeEach(async () => {
  log = await openLogStore(postgresql)
  client = new Client(log.url)
  await client.connect()
})
afterEach(async () => {
  await client.end()
  await log.close()
})

/** Commits slots with one row each. */
async function commitRows(count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const outputId = outputIdOf('11', i)
    await log.commit([
      { address: owner, class: 'OWNED', roles: ['OWNER'], outputId, isSpent: false },
    ])
  }
}

const rowsOf = async (text: string) => (await client.query({ text, rowMode: 'array' })).rows

/** Returns the path of a table's file. */
const fileOf = async (table: string) =>
  (await rowsOf(`SELECT pg_relation_filepath('${table}')`))[0]?.[0]

/** Returns the stored positions, in the order of the log. */
const stored = async () => (await rowsOf('SELECT seq::int FROM ledger_updates ORDER BY seq')).flat()

const tables = async () =>
  (
    await rowsOf(`SELECT relname::text FROM pg_class WHERE relkind IN ('r', 'p')
      AND relname LIKE 'ledger\\_updates%' ORDER BY relname`)
  ).flat()

const positions = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i)

const everyRow = { limit: 1_000, order: 'ascending', after: 0, before: 10_000 } as const

async function served(): Promise<number[]> {
  const { read } = log.store
  const rows = await read.updates({ ...everyRow, address: owner, classes: ['OWNED'] })
  const ofLog = await read.updates({ ...everyRow, classes: ['OWNED', 'MENTIONED'] })
  expect(seqsOf(ofLog)).toEqual(seqsOf(rows))
  return rows.map(({ seq }) => seq)
}

const prune = (milestones: number, rows: number) => log.store.write.pruneLog({ milestones, rows })

/** Prunes as the pruner does after each milestone, until the table is dropped. */
async function untilDropped(table: string, milestones: number): Promise<void> {
  await until(
    async () => {
      await prune(milestones, 100)
      return !(await tables()).includes(table)
    },
    { deadlineMs: 30_000 },
  )
}

/** Prunes for longer than the time after which a partition without readers is dropped. */
async function pruneForLong(milestones: number): Promise<void> {
  const begun = performance.now()
  await until(
    async () => {
      await prune(milestones, 100)
      return performance.now() - begun > 3 * maxNamedAgeMs
    },
    { deadlineMs: 30_000 },
  )
}

describe('a log', () => {
  test('becomes its own first partition without a copy of its rows, and gets a second one', async () => {
    await commitRows(5)
    const file = await fileOf('ledger_updates')
    expect(await partitioned(log.url, { rows: 10 })).toEqual([
      [1, 10],
      [11, 20],
    ])
    expect(await fileOf('ledger_updates_1_to_10')).toBe(file)
    expect(await served()).toEqual(positions(1, 5))
    // A second run finds nothing to do.
    expect(await partitioned(log.url, { rows: 10 })).toHaveLength(2)
    expect(await tables()).toEqual([
      'ledger_updates',
      'ledger_updates_11_to_20',
      'ledger_updates_1_to_10',
    ])
  })

  test('continues after an interruption at any step', async () => {
    await commitRows(5)
    await client.query(
      'ALTER TABLE ledger_updates ADD CONSTRAINT ledger_updates_range CHECK (seq >= 1 AND seq < 31) NOT VALID',
    )
    expect(await partitioned(log.url, { rows: 10 })).toEqual([
      [1, 30],
      [31, 40],
    ])
    const checks = `SELECT conname FROM pg_constraint WHERE conname = 'ledger_updates_range'`
    expect(await rowsOf(checks)).toEqual([])
  })

  test('that reaches the end of a range which is only a check so far removes the check', async () => {
    await client.query(
      'ALTER TABLE ledger_updates ADD CONSTRAINT ledger_updates_range CHECK (seq >= 1 AND seq < 4) NOT VALID',
    )
    await commitRows(5)
    expect(await stored()).toEqual(positions(1, 5))
    expect(await partitioned(log.url, { rows: 4 })).toEqual([
      [1, 8],
      [9, 12],
    ])
  })

  test('keeps its owner and the privileges of others', async () => {
    const role = `reader_${process.pid}`
    await client.query(`CREATE ROLE ${role}; GRANT SELECT ON ledger_updates TO ${role}`)
    try {
      await partitioned(log.url, { rows: 10 })
      const may = `SELECT has_table_privilege('${role}', 'ledger_updates', 'SELECT'),
        has_table_privilege('${role}', 'ledger_updates', 'INSERT')`
      expect(await rowsOf(may)).toEqual([[true, false]])
    } finally {
      await client.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`)
    }
  })

  test('stays unchanged if something depends on it, or if it is incomplete', async () => {
    await client.query('CREATE VIEW news AS SELECT seq FROM ledger_updates')
    expect(await partition(log.url)).toEqual({
      ok: false,
      error: { code: 'LOG_HAS_DEPENDENTS', dependents: ['the view news'] },
    })
    await client.query('DROP VIEW news')
    await client.query(`INSERT INTO imports (id, lines, digest) VALUES (1, 1, '')`)
    expect(await partition(log.url)).toMatchObject({ error: { code: 'IMPORT_UNFINISHED' } })
    await client.query('DELETE FROM imports')
    const stopped = { signal: AbortSignal.abort() }
    expect(await partition(log.url, stopped)).toMatchObject({
      error: { code: 'PARTITION_INTERRUPTED' },
    })
    expect(await tables()).toEqual(['ledger_updates'])
    await client.query('DELETE FROM network')
    expect(await partition(log.url)).toMatchObject({ error: { code: 'NOTHING_TO_PARTITION' } })
  })

  test('does not block other readers while it waits for a session with a long read', async () => {
    await commitRows(3)
    await client.query(`BEGIN; SELECT FROM ledger_updates LIMIT 1; SELECT pg_sleep(1.1)`)
    const waitedFor: string[] = []
    const done = partitioned(log.url, { rows: 10, onWaiting: (reader) => waitedFor.push(reader) })
    await until(() => waitedFor.length > 0)
    expect(waitedFor[0]).toMatch(/^process \d+ of PostgreSQL/)
    // A reader that queues behind the waiting lock would not finish.
    expect(await served()).toEqual([1, 2, 3])
    await client.query('COMMIT')
    expect(await done).toHaveLength(2)
  })
})

describe('a log in partitions', () => {
  test('gets the next partition ahead of time, and a larger slot creates the partitions that it needs', async () => {
    await partitioned(log.url, { rows: 4 })
    await commitRows(4)
    await log.store.write.extendLog()
    expect(await tables()).toHaveLength(3)
    await commitRows(1)
    await log.store.write.extendLog()
    await log.store.write.extendLog()
    expect(await tables()).toContain('ledger_updates_9_to_12')
    expect(await tables()).toHaveLength(4)
    const entries = positions(1, 20).map((n) => ({
      address: owner,
      class: 'OWNED' as const,
      roles: ['OWNER'] as const,
      outputId: outputIdOf('9f', n),
      isSpent: false,
    }))
    await log.commit(entries)
    expect(await served()).toEqual(positions(1, 25))
    expect(await tables()).toContain('ledger_updates_25_to_28')
  })

  test('accepts another width for later partitions', async () => {
    await partitioned(log.url, { rows: 4 })
    expect(await partitioned(log.url, { rows: 6 })).toEqual([
      [1, 4],
      [5, 8],
      [9, 14],
    ])
  })

  test('returns the rows of any range and any addresses across the borders of partitions', async () => {
    const [slots = []] = fc.sample(fc.array(slotEntries, { minLength: 20, maxLength: 20 }), {
      seed: 6,
      numRuns: 1,
    })
    await partitioned(log.url, { rows: 7 })
    for (const slot of slots) await log.commit(slot)
    expect((await tables()).length).toBeGreaterThan(10)
    await expectAnyRange(log, 150)
  })

  test('is pruned like any other, and whole partitions are dropped when none of their rows is kept', async () => {
    await partitioned(log.url, { rows: 4 })
    await commitRows(12)
    // One milestone more than rows, because the first milestone has no rows.
    expect(await prune(6, 3)).toEqual({ prunedSeq: 3, isDone: false })
    expect(await stored()).toEqual(positions(1, 12))
    expect(await served()).toEqual(positions(4, 12))
    expect(await prune(6, 3)).toEqual({ prunedSeq: 6, isDone: true })
    expect(await served()).toEqual(positions(7, 12))
    await untilDropped('ledger_updates_1_to_4', 6)
    expect(await stored()).toEqual(positions(5, 12))
    expect(await served()).toEqual(positions(7, 12))
    expect(await log.store.read.logTip()).toMatchObject({ prunedSeq: 6, seq: 12 })
    expect(await log.store.read.prunedTip(owner, 'OWNED')).toMatchObject({ ordinal: 6 })
    await commitRows(1)
    expect(
      await log.store.read.updates({ ...everyRow, address: owner, classes: ['OWNED'] }),
    ).toEqual(expect.arrayContaining([expect.objectContaining({ seq: 13, ordinal: 13 })]))
  })

  test('rejects the cursors of hidden and of dropped rows as expired, and pages continue after them', async () => {
    await partitioned(log.url, { rows: 4 })
    await commitRows(12)
    const deps = { store: log.store, parameters: fixedParameters, mayLag: false }
    const page = async (question: Partial<LedgerUpdatesRequest>) =>
      await listLedgerUpdates(deps, { address: owner, sort: 'OLDEST', first: 3, ...question })
    const before = unwrap(await page({ first: 12 })).nodes.map(({ cursor }) => cursor)
    await prune(6, 100)
    const expired = { error: { code: 'CURSOR_EXPIRED' } }
    for (const isDropped of [false, true]) {
      if (isDropped) await untilDropped('ledger_updates_1_to_4', 6)
      for (const after of [before[1], before[4]])
        expect(await page({ after })).toMatchObject(expired)
      expect(await page({ sort: 'NEWEST', after: before[2] })).toMatchObject(expired)
      expect(seqsOf(unwrap(await page({ after: before[5] })).nodes)).toEqual([7, 8, 9])
      const last = unwrap(await page({ sort: 'NEWEST', after: before[8] }))
      expect(seqsOf(last.nodes)).toEqual([8, 7])
      expect(await last.hasNextPage()).toBe(false)
      expect(await last.hasPreviousPage()).toBe(true)
    }
  })

  test('shows none of the hidden rows in another process', async () => {
    const other = await openedStore(log.url)
    await commitRows(9)
    const seqs = async () => {
      const rows = await other.read.updates({ ...everyRow, address: owner, classes: ['OWNED'] })
      return rows.map(({ seq }) => seq)
    }
    expect(await seqs()).toEqual(positions(1, 9))
    await partitioned(log.url, { rows: 4 })
    await prune(4, 100)
    // The other process checks the form of the log periodically.
    await until(async () => (await seqs())[0] === 6)
    expect(await seqs()).toEqual(positions(6, 9))
    expect(await stored()).toEqual(positions(1, 9))
    await other.close()
  })

  test('is pruned even while a session reads a partition for long, and keeps that partition', async () => {
    await partitioned(log.url, { rows: 4 })
    await commitRows(9)
    await client.query(`BEGIN; SELECT FROM ledger_updates LIMIT 1; SELECT pg_sleep(1.1)`)
    expect(await prune(4, 100)).toEqual({ prunedSeq: 5, isDone: true })
    await pruneForLong(4)
    expect(await tables()).toContain('ledger_updates_1_to_4')
    await client.query('COMMIT')
    await untilDropped('ledger_updates_1_to_4', 4)
  })

  test('stays complete for a query that began before its rows were pruned', async () => {
    await partitioned(log.url, { rows: 4 })
    await commitRows(9)
    const snapshot = await log.store.snapshot()
    // The snapshot's moment is that of its first read, and this read does not touch the log.
    expect(await snapshot.read.logTip()).toMatchObject({ prunedSeq: 0 })
    expect(await prune(4, 100)).toEqual({ prunedSeq: 5, isDone: true })
    await pruneForLong(4)
    for (const order of ['ascending', 'descending'] as const) {
      const range = { ...everyRow, order, classes: ['OWNED'] as const }
      for (const rows of [
        await snapshot.read.updates(range),
        await snapshot.read.updates({ ...range, address: owner }),
      ])
        expect(rows.map(({ seq }) => seq).sort((a, b) => a - b)).toEqual(positions(1, 9))
    }
    snapshot.end()
    await untilDropped('ledger_updates_1_to_4', 4)
  })
})

describe('a partition that is too large', () => {
  test('is split into ranges without its pruned rows, and its disk space is freed', async () => {
    await commitRows(25)
    await partitioned(log.url, { rows: 50 })
    await log.store.write.pruneLog({ milestones: 18, rows: 100 })
    expect(await partitioned(log.url, { rows: 10, isSplit: true })).toEqual([
      [1, 10],
      [11, 20],
      [21, 30],
      [31, 40],
      [41, 50],
      [51, 100],
      [101, 110],
    ])
    expect(await stored()).toEqual(positions(8, 25))
    expect(await served()).toEqual(positions(8, 25))
    expect(await tables()).not.toContain('ledger_updates_1_to_50')
    await commitRows(7)
    expect(await served()).toEqual(positions(8, 32))
    const { rows } = await client.query(`SELECT indexdef FROM pg_indexes
      WHERE tablename = 'ledger_updates_11_to_20' ORDER BY indexdef`)
    expect(rows.map(({ indexdef }) => indexdef)).toEqual([
      expect.stringMatching(/\(address, class, seq\)$/),
      expect.stringMatching(/UNIQUE .*\(seq\)$/),
    ])
  })

  test('waits for a session with a lock on a copy, as pg_dump or autovacuum have', async () => {
    await commitRows(25)
    await partitioned(log.url, { rows: 50 })
    await client.query(`CREATE TABLE ledger_updates_11_to_20 (LIKE ledger_updates, PRIMARY KEY (seq),
        CONSTRAINT ledger_updates_range CHECK (seq >= 11 AND seq < 21))`)
    await client.query('BEGIN; LOCK TABLE ledger_updates_11_to_20 IN ACCESS SHARE MODE')
    const waitedFor: string[] = []
    const onWaiting = (session: string) => void waitedFor.push(session)
    const done = partitioned(log.url, { rows: 10, isSplit: true, onWaiting })
    await until(() => waitedFor.length > 0)
    expect(waitedFor[0]).toMatch(/^process \d+ of PostgreSQL/)
    expect(await served()).toEqual(positions(1, 25))
    await client.query('COMMIT')
    expect(await done).toContainEqual([11, 20])
    expect(await served()).toEqual(positions(1, 25))
  })

  test('is left out when it is dropped by the pruner meanwhile', async () => {
    await commitRows(25)
    await partitioned(log.url, { rows: 50 })
    await commitRows(30)
    await client.query(`CREATE TABLE ledger_updates_11_to_20 (LIKE ledger_updates, PRIMARY KEY (seq),
        CONSTRAINT ledger_updates_range CHECK (seq >= 11 AND seq < 21))`)
    await client.query('BEGIN; LOCK TABLE ledger_updates_11_to_20 IN ACCESS SHARE MODE')
    const waitedFor: string[] = []
    const onWaiting = (session: string) => void waitedFor.push(session)
    const done = partitioned(log.url, { rows: 10, isSplit: true, onWaiting })
    await until(() => waitedFor.length > 0)
    const other = new Client(log.url)
    await other.connect()
    await until(
      async () => {
        await prune(2, 100)
        const found = await other.query("SELECT to_regclass('ledger_updates_1_to_50') AS whole")
        return found.rows[0]?.whole === null
      },
      { deadlineMs: 30_000 },
    )
    await other.end()
    await client.query('COMMIT')
    expect(await done).toEqual([
      [51, 60],
      [61, 70],
      [71, 80],
      [81, 90],
      [91, 100],
      [101, 110],
    ])
    expect(await tables()).not.toContain('ledger_updates_11_to_20')
    expect(await served()).toEqual([54, 55])
  })

  test('continues with copied rows, begins again for other ranges, and removes the copies without a split', async () => {
    await commitRows(25)
    await partitioned(log.url, { rows: 50 })
    const copy = (name: string) =>
      client.query(`CREATE TABLE ${name} (LIKE ledger_updates, PRIMARY KEY (seq),
        CONSTRAINT ledger_updates_range CHECK (seq >= 1 AND seq < 11));
        INSERT INTO ${name} SELECT * FROM ledger_updates WHERE seq <= 6`)
    await copy('ledger_updates_1_to_10')
    await copy('ledger_updates_1_to_12')
    await partitioned(log.url)
    expect(await tables()).toHaveLength(3)
    await copy('ledger_updates_1_to_10')
    const file = await fileOf('ledger_updates_1_to_10')
    await copy('ledger_updates_1_to_12')
    await partitioned(log.url, { rows: 10, isSplit: true })
    expect(await fileOf('ledger_updates_1_to_10')).toBe(file)
    expect(await tables()).not.toContain('ledger_updates_1_to_12')
    expect(await served()).toEqual(positions(1, 25))
  })
})

test('the first partition ends well beyond the tip, at a multiple of the width', () => {
  expect(firstEnd(0, 100)).toBe(101)
  expect(firstEnd(60, 100)).toBe(201)
  expect(firstEnd(10_000, 100)).toBe(11_001)
})

test('ranges begin after the pruned rows and lie within the partition', () => {
  const ranges = rangesOf({ name: '', from: 1, to: 26 }, 10, 13)
  expect(ranges.map(({ from, to }) => [from, to])).toEqual([
    [11, 21],
    [21, 26],
  ])
})

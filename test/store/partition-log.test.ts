import fc from 'fast-check'
import { Client } from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readUpdates } from '../../src/feed/read.ts'
import { present } from '../../src/lib/assert.ts'
import {
  type LedgerUpdatesRequest,
  listLedgerUpdates,
} from '../../src/service/updates/list-ledger-updates.ts'
import { maxNamedAgeMs } from '../../src/store/log-forms.ts'
import { firstEnd } from '../../src/store/partition-log.ts'
import { rangesOf } from '../../src/store/split-partitions.ts'
import { databases, openedStore } from '../support/databases.ts'
import { anyFilter, matching, seqsOf } from '../support/feed-log.ts'
import {
  addresses,
  fixedParameters,
  type LogStore,
  openLogStore,
  outputIdOf,
  slotEntries,
  unwrap,
} from '../support/log-store.ts'
import { partition, partitioned } from '../support/partitioned.ts'
import { until } from '../support/until.ts'

/** The log of PostgreSQL in partitions by position. */

const postgresql = present(databases[1], 'PostgreSQL')
const [owner = '0x'] = addresses

let log: LogStore
let beside: Client

beforeEach(async () => {
  log = await openLogStore(postgresql)
  beside = new Client(log.url)
  await beside.connect()
})
afterEach(async () => {
  await beside.end()
  await log.close()
})

/** Slots of one row each. */
async function commitRows(count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const outputId = outputIdOf('11', i)
    await log.commit([
      { address: owner, class: 'OWNED', roles: ['OWNER'], outputId, isSpent: false },
    ])
  }
}

const rowsOf = async (text: string) => (await beside.query({ text, rowMode: 'array' })).rows

/** Where a table is on the disk. */
const fileOf = async (table: string) =>
  (await rowsOf(`SELECT pg_relation_filepath('${table}')`))[0]?.[0]

/** The positions that are stored, in the order of the log. */
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

/** As the pruner does after each milestone. */
async function untilDropped(table: string, milestones: number): Promise<void> {
  await until(
    async () => {
      await prune(milestones, 100)
      return !(await tables()).includes(table)
    },
    { deadlineMs: 30_000 },
  )
}

/** For longer than it takes until a partition goes that no session reads. */
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
  test('becomes its own first partition without a copy of its rows, and the next one is there', async () => {
    await commitRows(5)
    const file = await fileOf('ledger_updates')
    expect(await partitioned(log.url, { rows: 10 })).toEqual([
      [1, 10],
      [11, 20],
    ])
    expect(await fileOf('ledger_updates_1_to_10')).toBe(file)
    expect(await served()).toEqual(positions(1, 5))
    // Again it finds nothing to do.
    expect(await partitioned(log.url, { rows: 10 })).toHaveLength(2)
    expect(await tables()).toEqual([
      'ledger_updates',
      'ledger_updates_11_to_20',
      'ledger_updates_1_to_10',
    ])
  })

  test('goes on where it stopped after each of its steps', async () => {
    await commitRows(5)
    await beside.query(
      'ALTER TABLE ledger_updates ADD CONSTRAINT ledger_updates_range CHECK (seq >= 1 AND seq < 31) NOT VALID',
    )
    expect(await partitioned(log.url, { rows: 10 })).toEqual([
      [1, 30],
      [31, 40],
    ])
    const checks = `SELECT conname FROM pg_constraint WHERE conname = 'ledger_updates_range'`
    expect(await rowsOf(checks)).toEqual([])
  })

  test('that comes to the end of a range which is only checked so far gives the check up', async () => {
    await beside.query(
      'ALTER TABLE ledger_updates ADD CONSTRAINT ledger_updates_range CHECK (seq >= 1 AND seq < 4) NOT VALID',
    )
    await commitRows(5)
    expect(await stored()).toEqual(positions(1, 5))
    expect(await partitioned(log.url, { rows: 4 })).toEqual([
      [1, 8],
      [9, 12],
    ])
  })

  test('keeps its owner and the rights of others', async () => {
    const role = `reader_${process.pid}`
    await beside.query(`CREATE ROLE ${role}; GRANT SELECT ON ledger_updates TO ${role}`)
    try {
      await partitioned(log.url, { rows: 10 })
      const may = `SELECT has_table_privilege('${role}', 'ledger_updates', 'SELECT'),
        has_table_privilege('${role}', 'ledger_updates', 'INSERT')`
      expect(await rowsOf(may)).toEqual([[true, false]])
    } finally {
      await beside.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`)
    }
  })

  test('is left as it is where something depends on it, or where it is not all there', async () => {
    await beside.query('CREATE VIEW news AS SELECT seq FROM ledger_updates')
    expect(await partition(log.url)).toEqual({
      ok: false,
      error: { code: 'LOG_HAS_DEPENDENTS', dependents: ['the view news'] },
    })
    await beside.query('DROP VIEW news')
    await beside.query(`INSERT INTO imports (id, lines, digest) VALUES (1, 1, '')`)
    expect(await partition(log.url)).toMatchObject({ error: { code: 'IMPORT_UNFINISHED' } })
    await beside.query('DELETE FROM imports')
    const stopped = { signal: AbortSignal.abort() }
    expect(await partition(log.url, stopped)).toMatchObject({
      error: { code: 'PARTITION_INTERRUPTED' },
    })
    expect(await tables()).toEqual(['ledger_updates'])
    await beside.query('DELETE FROM network')
    expect(await partition(log.url)).toMatchObject({ error: { code: 'NOTHING_TO_PARTITION' } })
  })

  test('is not waited for by others while a session reads it for long', async () => {
    await commitRows(3)
    await beside.query(`BEGIN; SELECT FROM ledger_updates LIMIT 1; SELECT pg_sleep(1.1)`)
    const waitedFor: string[] = []
    const done = partitioned(log.url, { rows: 10, onWaiting: (reader) => waitedFor.push(reader) })
    await until(() => waitedFor.length > 0)
    expect(waitedFor[0]).toMatch(/^process \d+ of PostgreSQL/)
    // A reader that queued behind a lock that is waited for would not come to its end.
    expect(await served()).toEqual([1, 2, 3])
    await beside.query('COMMIT')
    expect(await done).toHaveLength(2)
  })
})

describe('a log in partitions', () => {
  test('gets the next one ahead of time, and a slot that is larger makes what it needs', async () => {
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

  test('takes another width for those to come', async () => {
    await partitioned(log.url, { rows: 4 })
    expect(await partitioned(log.url, { rows: 6 })).toEqual([
      [1, 4],
      [5, 8],
      [9, 14],
    ])
  })

  test('gives the rows of any range over any addresses across its borders', async () => {
    const [slots = []] = fc.sample(fc.array(slotEntries, { minLength: 20, maxLength: 20 }), {
      seed: 6,
      numRuns: 1,
    })
    await partitioned(log.url, { rows: 7 })
    for (const slot of slots) await log.commit(slot)
    expect((await tables()).length).toBeGreaterThan(10)
    const anyRange = fc.record({
      after: fc.nat({ max: 150 }),
      before: fc.nat({ max: 150 }),
      limit: fc.nat({ max: 20 }),
      order: fc.constantFrom<'ascending' | 'descending'>('ascending', 'descending'),
    })
    await fc.assert(
      fc.asyncProperty(anyFilter, anyRange, async (filter, range) => {
        const rows = await readUpdates(log.store.read, { ...filter, ...range })
        const inside = matching(log.rows, filter).filter(
          ({ seq }) => seq > range.after && seq < range.before,
        )
        const turned = range.order === 'ascending' ? inside : inside.reverse()
        expect(seqsOf(rows)).toEqual(seqsOf(turned.slice(0, range.limit)))
      }),
    )
  })

  test('is pruned as any other, and whole partitions go once nothing in them is kept', async () => {
    await partitioned(log.url, { rows: 4 })
    await commitRows(12)
    // One milestone more than rows, for the first has none.
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

  test('names the cursors of hidden and of dropped rows expired, and pages go on behind them', async () => {
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

  test('shows none of the hidden rows in any other process', async () => {
    const other = await openedStore(log.url)
    await commitRows(9)
    const seqs = async () => {
      const rows = await other.read.updates({ ...everyRow, address: owner, classes: ['OWNED'] })
      return rows.map(({ seq }) => seq)
    }
    expect(await seqs()).toEqual(positions(1, 9))
    await partitioned(log.url, { rows: 4 })
    await prune(4, 100)
    // It looks at the form of the log now and then.
    await until(async () => (await seqs())[0] === 6)
    expect(await seqs()).toEqual(positions(6, 9))
    expect(await stored()).toEqual(positions(1, 9))
    await other.close()
  })

  test('keeps a partition that a session reads for long, and is pruned all the same', async () => {
    await partitioned(log.url, { rows: 4 })
    await commitRows(9)
    await beside.query(`BEGIN; SELECT FROM ledger_updates LIMIT 1; SELECT pg_sleep(1.1)`)
    expect(await prune(4, 100)).toEqual({ prunedSeq: 5, isDone: true })
    await pruneForLong(4)
    expect(await tables()).toContain('ledger_updates_1_to_4')
    await beside.query('COMMIT')
    await untilDropped('ledger_updates_1_to_4', 4)
  })

  test('stays whole for a query that began before its rows were pruned', async () => {
    await partitioned(log.url, { rows: 4 })
    await commitRows(9)
    const snapshot = await log.store.snapshot()
    // Its moment is that of its first read, which does not come to the log.
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

describe('a partition that is larger than wanted', () => {
  test('is split into ranges, without what is pruned, and its room is given back', async () => {
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
    const { rows } = await beside.query(`SELECT indexdef FROM pg_indexes
      WHERE tablename = 'ledger_updates_11_to_20' ORDER BY indexdef`)
    expect(rows.map(({ indexdef }) => indexdef)).toEqual([
      expect.stringMatching(/\(address, class, seq\)$/),
      expect.stringMatching(/UNIQUE .*\(seq\)$/),
    ])
  })

  test('goes on with what is copied, with other ranges it begins anew, and without it is given up', async () => {
    await commitRows(25)
    await partitioned(log.url, { rows: 50 })
    const copy = (name: string) =>
      beside.query(`CREATE TABLE ${name} (LIKE ledger_updates, PRIMARY KEY (seq),
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

test('the first partition ends well behind the tip, where a range of the width ends', () => {
  expect(firstEnd(0, 100)).toBe(101)
  expect(firstEnd(60, 100)).toBe(201)
  expect(firstEnd(10_000, 100)).toBe(11_001)
})

test('ranges begin with what is not pruned, and lie within the partition', () => {
  const ranges = rangesOf({ name: '', from: 1, to: 26 }, 10, 13)
  expect(ranges.map(({ from, to }) => [from, to])).toEqual([
    [11, 21],
    [21, 26],
  ])
})

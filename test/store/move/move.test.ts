import { createHash } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { silentLog } from '../../../src/lib/log.ts'
import type { Store } from '../../../src/store/contract.ts'
import type { Database } from '../../../src/store/database.ts'
import { exportDatabase } from '../../../src/store/move/export.ts'
import { importDatabase } from '../../../src/store/move/import.ts'
import { openDatabase, openStore } from '../../../src/store/open.ts'
import { createSerialQueue } from '../../../src/store/serial-queue.ts'
import { createWriter } from '../../../src/store/write/writer.ts'
import {
  type DatabaseKind,
  databases,
  onDatabase,
  openedStore,
  type TestDatabase,
  takenLease,
  useStore,
} from '../../support/databases.ts'
import { partitioned } from '../../support/partitioned.ts'
import {
  addressOf,
  blockIdOf,
  bookedTransaction,
  booking,
  createdOutput,
  entry,
  incomingBlock,
  outputIdOf,
  slotCommit,
  testGenesis,
  transactionIdOf,
} from '../../support/store-rows.ts'

const log = silentLog
const pairs = databases.flatMap((from) => databases.map((to) => ({ from, to })))

describe.each(databases)('an export of $name', ({ create }) => {
  const use = useStore(create)

  test('of a database without a ledger is rejected', async () => {
    const { outcome } = await exported(use.url)
    expect(outcome).toEqual({ ok: false, error: { code: 'NOTHING_TO_EXPORT' } })
  })

  test('shows one moment, despite concurrent writes', async () => {
    await fill(use.store, use.term)
    const before = (await exported(use.url)).lines
    const { lines } = await exported(use.url, async () => {
      const n = 1_000 + Math.trunc(performance.now())
      await use.store.write.acceptBlocks([incomingBlock(n, { slot: 900 })])
    })
    expect(lines.slice(0, -1).filter((line) => !line.startsWith('{"table":"writer"'))).toEqual(
      before.slice(0, -1).filter((line) => !line.startsWith('{"table":"writer"')),
    )
  })

  test("leaves out tables and views that are not the program's own", async () => {
    await fill(use.store, use.term)
    const before = (await exported(use.url)).lines
    await onDatabase(
      use.url,
      `CREATE VIEW newest_slots AS SELECT slot FROM commitments;
      CREATE TABLE measured (at TIMESTAMP, value REAL); INSERT INTO measured (value) VALUES (1.5)`,
    )
    expect((await exported(use.url)).lines).toEqual(before)
  })

  test('stops on an abort signal', async () => {
    await fill(use.store, use.term)
    const stopping = new AbortController()
    const { outcome } = await exported(use.url, async () => stopping.abort(), stopping.signal)
    expect(outcome).toEqual({ ok: false, error: { code: 'EXPORT_INTERRUPTED' } })
  })
})

describe.each(pairs)('moving from $from.name to $to.name', ({ from, to }) => {
  const use = useStore(from.create)
  let lines: readonly string[]

  beforeEach(async () => {
    await fill(use.store, use.term)
    lines = (await exported(use.url)).lines
  })

  test('keeps every row, and the moved ledger continues', async () => {
    await withEmpty(to.create, async ({ url }) => {
      expect(await imported(url, lines)).toMatchObject({ ok: true, value: { rows: rowsIn(lines) } })
      const again = await exported(url)
      expect(comparable(again.lines)).toEqual(comparable(lines))
      if (to.name === 'postgresql') expect(await analyzedTables(url)).toContain('outputs')

      const moved = await openedStore(url)
      expect(await moved.read.logTip()).toEqual(await use.store.read.logTip())
      const term = await takenLease(moved)
      expect(await moved.write.acceptBlocks([incomingBlock(1)])).toEqual(['KNOWN'])
      expect(await moved.write.acceptBlocks([incomingBlock(77)])).toEqual(['SLOT_CLOSED'])
      for (const [store, itsTerm] of [[moved, term] as const, [use.store, use.term] as const]) {
        await store.write.closeSlots(itsTerm, 5)
        await store.write.commitSlots(itsTerm, [slotCommit(5, [entry(1, 90)])])
      }
      const address = addressOf(1)
      expect(await moved.read.addressTip(address, 'OWNED')).toEqual(
        await use.store.read.addressTip(address, 'OWNED'),
      )
      await moved.close()
    })
  })

  test('keeps a log whose beginning is pruned, and its histories continue', async () => {
    await use.store.write.pruneLog({ milestones: 1, rows: 10_000 })
    const pruned = (await exported(use.url)).lines
    expect(rowsIn(pruned)).toBeLessThan(rowsIn(lines))
    await withEmpty(to.create, async ({ url }) => {
      expect(await imported(url, pruned)).toMatchObject({ ok: true })
      expect(comparable((await exported(url)).lines)).toEqual(comparable(pruned))
    })
  })

  test.runIf(from.name === 'postgresql')(
    'keeps a partitioned log, without its pruned rows',
    async () => {
      await partitioned(use.url, { rows: 100 })
      await use.store.write.pruneLog({ milestones: 1, rows: 10_000 })
      const pruned = (await exported(use.url)).lines
      expect(rowsIn(pruned)).toBeLessThan(rowsIn(lines))
      await withEmpty(to.create, async ({ url }) => {
        expect(await imported(url, pruned)).toMatchObject({ ok: true })
        expect(comparable((await exported(url)).lines)).toEqual(comparable(pruned))
        if (to.name === 'postgresql') expect(await partitioned(url, { rows: 100 })).toHaveLength(2)
      })
    },
  )

  test('resumes at any line, and is no ledger until its last line', async () => {
    await withEmpty(to.create, async ({ url }) => {
      for (let count = 1; count < lines.length; count++) {
        const outcome = await imported(url, lines.slice(0, count))
        const error = { code: 'EXPORT_UNUSABLE', line: count, reason: 'ENDED_EARLY' }
        expect(outcome).toEqual({ ok: false, error })
      }
      const error = { code: 'IMPORT_UNFINISHED' }
      expect(await openStore({ url, log })).toEqual({ ok: false, error })
      expect(await imported(url, lines)).toMatchObject({ ok: true })
      expect(comparable((await exported(url)).lines)).toEqual(comparable(lines))
    })
  })
})

describe.each(databases)('an import into $name', ({ create }) => {
  let lines: readonly string[]

  beforeAll(async () => {
    await withEmpty(create, async ({ url }) => {
      const store = await openedStore(url)
      const term = await takenLease(store)
      await fill(store, term)
      await store.write.releaseLease(term)
      await store.close()
      lines = (await exported(url)).lines
    })
  })

  test('into a database with a ledger is rejected', async () => {
    await withEmpty(create, async ({ url }) => {
      const store = await openedStore(url)
      const term = await takenLease(store)
      await store.write.initialize(term, testGenesis())
      await store.write.releaseLease(term)
      await store.close()
      const error = { code: 'DATABASE_NOT_EMPTY' }
      expect(await imported(url, lines)).toEqual({ ok: false, error })
    })
  })

  test('stops on an abort signal, and when the lease is lost', async () => {
    await withEmpty(create, async ({ url }) => {
      const signal = AbortSignal.abort()
      const interrupted = { ok: false, error: { code: 'IMPORT_INTERRUPTED' } }
      expect(await imported(url, lines, { signal })).toEqual(interrupted)
      const lost = { ok: false, error: { code: 'LEASE_LOST', term: 9 } }
      expect(await imported(url, lines, { term: 9 })).toEqual(lost)
      expect(await imported(url, lines)).toMatchObject({ ok: true })
    })
  })

  test('that one export began does not continue with another', async () => {
    await withEmpty(create, async ({ url }) => {
      await imported(url, lines.slice(0, 3))
      const others = lines.with(1, lines[1]?.replace(/"[0-9a-f]{64,}"/, '"00"') ?? '')
      expect(others).not.toEqual(lines)
      const error = { code: 'EXPORT_UNUSABLE', line: 3, reason: 'NOT_THE_ONE_BEGUN' }
      expect(await imported(url, resealed(others))).toEqual({ ok: false, error })
    })
  })

  const damages: readonly (readonly [string, (lines: string[]) => string[], object])[] = [
    ['an empty file', () => [], { code: 'EXPORT_UNUSABLE', reason: 'ENDED_EARLY' }],
    ['other JSON', () => ['{"a":1}'], { code: 'EXPORT_UNUSABLE', reason: 'NOT_AN_EXPORT' }],
    [
      'a text that is not JSON',
      () => ['export'],
      { code: 'EXPORT_UNUSABLE', reason: 'NOT_AN_EXPORT' },
    ],
    [
      'another version',
      (given) => inLine(given, 0, (text) => text.replace('"version":1', '"version":2')),
      { code: 'EXPORT_UNUSABLE', reason: 'OTHER_VERSION' },
    ],
    [
      'another column',
      (given) => inLine(given, 0, (text) => text.replace('"outputId"', '"output"')),
      { code: 'EXPORT_UNUSABLE', reason: 'TABLES_DIFFER' },
    ],
    [
      'a line that is no table',
      (given) => given.with(2, '[]'),
      { code: 'EXPORT_UNUSABLE', line: 3, reason: 'LINE_MALFORMED' },
    ],
    [
      'a missing line',
      (given) => given.toSpliced(1, 1),
      { code: 'EXPORT_UNUSABLE', reason: 'DAMAGED' },
    ],
    [
      'a missing line under a matching digest',
      (given) => resealed(given.toSpliced(1, 1)),
      { code: 'EXPORT_UNUSABLE', reason: 'ROWS_MISSING' },
    ],
    [
      'rows of an unknown table',
      (given) => resealed(given.with(1, '{"table":"none","rows":[["1"]]}')),
      { code: 'ROWS_MISFIT', table: 'none' },
    ],
    [
      'a row that is too short',
      (given) => resealed(inLine(given, 1, (text) => text.replace(/,[^,]*\]\]/, ']]'))),
      { code: 'ROWS_MISFIT' },
    ],
    [
      'bytes with a digit missing',
      (given) => resealed(inLine(given, 1, (text) => text.replace(/"([0-9a-f]{32,})"/, '"a$1"'))),
      { code: 'ROWS_MISFIT' },
    ],
    [
      'a log with another output',
      (given) => resealed(inLog(given, 'outputId', () => 'ab'.repeat(38))),
      { code: 'LOG_BROKEN' },
    ],
    [
      'a log with another history hash',
      (given) => resealed(inLog(given, 'historyHash', () => 'ab'.repeat(32))),
      { code: 'LOG_BROKEN' },
    ],
    [
      'a log with an ordinal left out',
      (given) => resealed(inLog(given, 'ordinal', (value) => String(Number(value) + 1))),
      { code: 'LOG_BROKEN' },
    ],
    [
      'a log with a position left out',
      (given) => resealed(inLog(given, 'seq', (value) => String(Number(value) + 1))),
      { code: 'LOG_BROKEN' },
    ],
  ]

  test.each(damages)('refuses %s', async (_name, damage, error) => {
    await withEmpty(create, async ({ url }) => {
      const outcome = await imported(url, damage([...lines]))
      expect(outcome).toMatchObject({ ok: false, error })
      const store = await openStore({ url, log })
      const isBegun = !store.ok && store.error.code === 'IMPORT_UNFINISHED'
      const isEmpty = store.ok && (await store.value.read.network()) === undefined
      expect(isBegun || isEmpty).toBe(true)
      if (store.ok) await store.value.close()
    })
  })
})

/** Fills a ledger with at least one row of every kind. */
async function fill({ write }: Store, term: number): Promise<void> {
  await write.initialize(term, testGenesis())
  const blocks = [1, 2, 3, 4].map((n) => incomingBlock(n))
  const last = incomingBlock(5, {
    slot: 900,
    transactionId: undefined,
    issuingTime: 2n ** 63n - 1n,
  })
  await write.acceptBlocks([...blocks, last])
  await write.closeSlots(term, 4)
  await write.book(
    term,
    booking({
      blocks: [1, 2, 3, 4].map((n) => ({
        blockId: blockIdOf(n),
        state: n === 4 ? 'DROPPED' : 'ACCEPTED',
      })),
      transactions: [
        bookedTransaction(1),
        bookedTransaction(2, { state: 'FAILED', failureReason: 9 }),
      ],
      created: [1, 2, 3].map((n) => createdOutput(n)),
      spent: [{ outputId: outputIdOf(0), spentSlot: 1, spentBy: transactionIdOf(1) }],
    }),
  )
  const mentioned = entry(0, 2, { class: 'MENTIONED', roles: ['SENDER', 'ISSUER'] })
  const many = Array.from({ length: 300 }, (_, i) => entry(i % 7, 100 + i))
  await write.commitSlots(term, [
    slotCommit(1, [entry(0, 0, { isSpent: true }), entry(1, 1), mentioned]),
    slotCommit(2),
    slotCommit(3, many),
    slotCommit(4, many.slice(0, 10)),
  ])
  for (const setAt of [1, 2]) {
    const accessNodes = ['"\\\u2028é🜁', '', `${setAt}`]
    await write.setChainRecord({
      chainId: 'c',
      accessNodes,
      isActive: setAt === 1,
      setBy: '',
      setAt,
    })
  }
}

async function exported(
  url: string,
  meanwhile: () => Promise<void> = async () => {},
  signal: AbortSignal = new AbortController().signal,
) {
  const lines: string[] = []
  const outcome = await withDatabase(url, (database) =>
    exportDatabase(database, {
      write: async (line) => {
        lines.push(line.trimEnd())
        await meanwhile()
      },
      signal,
      onProgress: () => {},
    }),
  )
  return { lines, outcome }
}

function imported(
  url: string,
  given: readonly string[],
  { term, signal }: { term?: number; signal?: AbortSignal } = {},
) {
  return withDatabase(url, async (database) => {
    const write = createWriter(database, createSerialQueue())
    const lease = await write.takeLease({ holder: 'import', ttlMs: 60_000 })
    if (!lease.ok) throw new Error(`the lease is held by ${lease.error.holder}`)
    async function* lines() {
      yield* given
    }
    const outcome = await importDatabase(database, {
      lines: lines(),
      term: term ?? lease.value.term,
      signal: signal ?? new AbortController().signal,
      logId: 'KEPT',
      onProgress: () => {},
    })
    await write.releaseLease(lease.value.term)
    return outcome
  })
}

async function withDatabase<T>(url: string, work: (database: Database) => Promise<T>): Promise<T> {
  const database = await openDatabase({ url, log })
  if (!database.ok) throw new Error(database.error.code)
  return work(database.value).finally(database.value.close)
}

/** Returns the tables for which PostgreSQL has statistics. */
function analyzedTables(url: string): Promise<readonly unknown[]> {
  const text = 'SELECT DISTINCT tablename FROM pg_stats WHERE schemaname = current_schema()'
  return withDatabase(url, async ({ query }) => (await query(text, [])).flat())
}

async function withEmpty(
  create: DatabaseKind['create'],
  work: (database: TestDatabase) => Promise<void>,
): Promise<void> {
  const database = await create()
  await work(database).finally(database.remove)
}

/**
 * Returns the rows without what may differ: the spaces of JSON, the writer's row, which holds the lease, and the publication mark of a log
 * in shards.
 */
function comparable(lines: readonly string[]): unknown[] {
  const parsed = lines.slice(0, -1).map((line) => JSON.parse(line))
  const tip = parsed[0].tables.find((table: { name: string }) => table.name === 'published_tip')
  const apart = tip.columns.indexOf('isApart')
  for (const { table, rows } of parsed) if (table === 'published_tip') rows[0][apart] = false
  return parsed.filter(({ table }) => table !== 'writer')
}

function rowsIn(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + (JSON.parse(line).rows?.length ?? 0), 0)
}

/** Replaces the last line by one whose digest matches the lines. */
function resealed(lines: readonly string[]): string[] {
  const body = lines.slice(0, -1)
  const digest = createHash('sha256').update(body.map((line) => `${line}\n`).join(''))
  return [...body, JSON.stringify({ lines: body.length, digest: `0x${digest.digest('hex')}` })]
}

function inLine(lines: readonly string[], at: number, change: (text: string) => string): string[] {
  const changed = change(lines[at] ?? '')
  expect(changed).not.toBe(lines[at])
  return lines.with(at, changed)
}

/** Changes one column of the fourth row of the log. */
function inLog(
  lines: readonly string[],
  column: string,
  change: (value: string) => string,
): string[] {
  const { columns } = JSON.parse(lines[0] ?? '').tables.find(
    (table: { name: string }) => table.name === 'ledger_updates',
  )
  const at = lines.findIndex((line) => line.startsWith('{"table":"ledger_updates"'))
  return inLine(lines, at, (text) => {
    const line = JSON.parse(text)
    const row = line.rows[3]
    row[columns.indexOf(column)] = change(row[columns.indexOf(column)])
    return JSON.stringify(line)
  })
}

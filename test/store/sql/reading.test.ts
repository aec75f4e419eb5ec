import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { encodeCursor } from '../../../src/feed/cursor.ts'
import { present } from '../../../src/lib/assert.ts'
import { silentLog } from '../../../src/lib/log.ts'
import {
  type LedgerUpdatesRequest,
  listLedgerUpdates,
} from '../../../src/service/updates/list-ledger-updates.ts'
import type { Database } from '../../../src/store/database.ts'
import { isStoreAway } from '../../../src/store/faults.ts'
import { openDatabase } from '../../../src/store/open.ts'
import { createReader } from '../../../src/store/reader.ts'
import { databases, onDatabase, useStore } from '../../support/databases.ts'
import { fixedParameters, unwrap } from '../../support/log-store.ts'
import {
  addressOf,
  blockIdOf,
  createdOutput,
  entry,
  incomingBlock,
  outputIdOf,
  slotCommit,
  testGenesis,
  transactionIdOf,
} from '../../support/store-rows.ts'
import { startPooler } from '../../support/transaction-pooler.ts'
import { until } from '../../support/until.ts'

/** Tests reads without Prisma: their parameters and results, their number of statements, and their failures. */

async function openedDatabase(url: string): Promise<Database> {
  const opened = await openDatabase({ url, log: silentLog })
  if (!opened.ok) throw new Error(opened.error.code)
  return opened.value
}

describe.each(databases)('prepared reads on $name', ({ name, create }) => {
  const use = useStore(create)
  let database: Database
  let queries: string[]

  beforeEach(async () => {
    await use.store.write.initialize(use.term, testGenesis({ commit: slotCommit(0) }))
    await use.store.write.closeSlots(use.term, 1_000_000)
    database = await openedDatabase(use.url)
    queries = []
  })
  afterEach(() => database.close())

  const counted = (): Database => ({
    ...database,
    query: (sql, parameters) => {
      queries.push(sql)
      return database.query(sql, parameters)
    },
    queryBoth: (first, second, parameters) => {
      queries.push(`${first}; ${second}`)
      return database.queryBoth(first, second, parameters)
    },
  })

  test('accept every kind of parameter, and return numbers, bytes, text and null', async () => {
    const bytes = Uint8Array.of(0, 255)
    const cast = (type: string, place: string) => `CAST(${place} AS ${type})`
    const blob = name === 'sqlite' ? 'BLOB' : 'bytea'
    const columns = [cast('BIGINT', '?1'), cast('TEXT', '?2'), cast(blob, '?3'), cast('TEXT', '?4')]
    const sql = `SELECT ${columns.join(', ')}, ${cast('BIGINT', '?1')} = 7`
    for (const number of [7, -Number.MAX_SAFE_INTEGER]) {
      const [row] = await database.query(sql, [number, 'it’s ?', bytes, null])
      expect(row?.slice(0, 4)).toEqual([number, 'it’s ?', bytes, null])
      expect(Boolean(row?.[4])).toBe(number === 7)
    }
  })

  test('never return an inexact integer', async () => {
    const result = database.query(`SELECT CAST('9007199254740993' AS BIGINT)`, [])
    if (name === 'sqlite') {
      await expect(result).rejects.toMatchObject({ code: 'ERR_OUT_OF_RANGE' })
    } else expect(await result).toEqual([[9007199254740993n]])
  })

  test('return amounts up to the last bit', async () => {
    const largest = 2n ** 63n - 1n
    await use.store.write.commitSlots(use.term, [slotCommit(1, [entry(1, 0)])])
    await onDatabase(use.url, `UPDATE ledger_updates SET balance = ${largest}`)
    const [row] = (await page({ limit: 1 })).rows
    expect(row?.balance).toBe(largest)
  })

  const page = ({ limit }: { readonly limit: number }) =>
    use.store.read.addressPage({
      address: addressOf(1),
      class: 'OWNED',
      after: 0,
      before: Number.MAX_SAFE_INTEGER,
      limit,
      order: 'descending',
    })

  test('return a page of a connection and its counts by one statement', async () => {
    const entries = Array.from({ length: 9 }, (_, i) => entry(1, i))
    await use.store.write.commitSlots(use.term, [slotCommit(1, entries)])
    const deps = {
      store: { ...use.store, read: createReader(counted()) },
      parameters: fixedParameters,
      mayLag: false,
    }
    const { logId, branch } = await use.store.read.logTip()
    const cursor = (seq: number) => encodeCursor({ logId, seq, branch })
    const questions: readonly (readonly [Partial<LedgerUpdatesRequest>, object])[] = [
      [{ first: 4 }, { seqs: [9, 8, 7, 6], before: false, after: true }],
      [
        { first: 4, after: cursor(6) },
        { seqs: [5, 4, 3, 2], before: true, after: true },
      ],
      [
        { first: 4, after: cursor(2) },
        { seqs: [1], before: true, after: false },
      ],
      [
        { last: 4, before: cursor(2) },
        { seqs: [6, 5, 4, 3], before: true, after: true },
      ],
      [
        { first: 4, last: 2, sort: 'OLDEST' },
        { seqs: [3, 4], before: true, after: true },
      ],
      [
        { last: 9, sort: 'OLDEST' },
        { before: false, after: false },
      ],
      [{ first: 0 }, { seqs: [], before: false, after: true }],
    ]
    for (const [question, expected] of questions) {
      queries.length = 0
      const asking = { address: addressOf(1), class: 'OWNED', sort: 'NEWEST', ...question } as const
      const answer = unwrap(await listLedgerUpdates(deps, asking))
      const seqs = answer.nodes.map(({ seq }) => seq)
      const [before, after] = [await answer.hasPreviousPage(), await answer.hasNextPage()]
      expect({ seqs, before, after }).toMatchObject(expected)
      expect([await answer.totalCount(), answer.tipCursor]).toEqual([9, cursor(9)])
      expect(queries).toHaveLength(1)
    }
  })

  test('return many keys by one statement, and no keys without one', async () => {
    const read = createReader(counted())
    const blocks = [1, 2, 3].map((n) => incomingBlock(n, { slot: 1_000_001 }))
    await use.store.write.acceptBlocks(blocks)
    const sorted = <T>(rows: readonly T[], by: (row: T) => string) => rows.map(by).sort()
    const ids = [blockIdOf(3), blockIdOf(1), blockIdOf(9), blockIdOf(3)]
    expect(sorted(await read.blockStates(ids), ({ blockId }) => blockId)).toEqual(
      [blockIdOf(1), blockIdOf(3)].sort(),
    )
    const [genesis] = testGenesis().outputs
    const outputs = await read.outputs([outputIdOf(77), present(genesis, 'an output').outputId])
    expect(outputs).toEqual([{ ...genesis, spentSlot: undefined, spentBy: undefined }])
    expect(queries).toHaveLength(2)
    expect([await read.blockStates([]), await read.outputs([])]).toEqual([[], []])
    expect(queries).toHaveLength(2)
  })

  test('return an output without its block, and the transaction that spends it', async () => {
    const { write, read } = use.store
    const created = createdOutput(5, { blockId: undefined, bookedSlot: 1_000_001 })
    const spent = { outputId: created.outputId, spentSlot: 1_000_002, spentBy: transactionIdOf(6) }
    unwrap(
      await write.book(use.term, { blocks: [], transactions: [], created: [created], spent: [] }),
    )
    const unspent = { ...created, spentSlot: undefined, spentBy: undefined }
    expect(await read.output(created.outputId)).toEqual(unspent)
    unwrap(
      await write.book(use.term, { blocks: [], transactions: [], created: [], spent: [spent] }),
    )
    expect(await read.output(created.outputId)).toEqual({ ...created, ...spent })
  })
})

describe('prepared reads on postgresql', () => {
  const [postgresql] = databases.filter(({ name }) => name === 'postgresql')
  const use = useStore(present(postgresql, 'postgresql').create)

  test('use named statements, and work without them behind a pooler that loses the names', async () => {
    const names = `SELECT count(*) FROM pg_prepared_statements WHERE name LIKE 'lg_%'`
    const direct = await openedDatabase(use.url)
    const first = await direct.query('SELECT ?1 || ?2', ['a', 'b'])
    // The third statement reads the form of the log.
    expect([first, await direct.query(names, [])]).toEqual([[['ab']], [[3]]])
    await direct.close()

    const pooler = await startPooler(use.url, 2)
    const database = await openedDatabase(pooler.url)
    for (let round = 0; round < 5; round++) {
      const all = Array.from({ length: 12 }, (_, n) =>
        database.query(`SELECT pg_sleep(0.002)::text || ?1 || '${n % 3}'`, [`${n} `]),
      )
      const expected = all.map((_read, n) => [[`${n} ${n % 3}`]])
      expect(await Promise.all(all)).toEqual(expected)
    }
    await database.close()
    await pooler.close()
  })

  test('fail as unavailable when their connection is lost, and work again afterwards', async () => {
    const database = await openedDatabase(use.url)
    const sleeping = database.query(`SELECT pg_sleep(60), 'cut me'`, []).catch((error) => error)
    const cut = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE query LIKE '%cut me%' AND state = 'active' AND pid <> pg_backend_pid()`
    await until(async () => (await database.query(cut, [])).length > 0)
    expect(isStoreAway(await sleeping)).toBe(true)
    expect(await database.query('SELECT 1', [])).toEqual([[1]])
    await database.close()
    await expect(database.query('SELECT 1', [])).rejects.toThrow('the store is open')
  })
})

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { silentLog } from '../../src/lib/log.ts'
import type { Database } from '../../src/store/database.ts'
import { openDatabase } from '../../src/store/open.ts'
import { createOwnedReader } from '../../src/store/owned.ts'
import type { OwnedUpdate } from '../../src/store/rows.ts'
import { createReading } from '../../src/store/sql/reading.ts'
import { databases, onDatabase, republish, useStore } from '../support/databases.ts'
import { addressOf, entry, outputIdOf, slotCommit, testGenesis } from '../support/store-rows.ts'

/** An address has so many rows in one milestone that no page scans all of them. */
const rows = 1_000
const outputIds = Array.from({ length: rows }, (_, i) => outputIdOf(i)).sort()
const address = addressOf(1)

describe.each(databases)('pages of what an address owned on $name', ({ create }) => {
  const use = useStore(create)
  let database: Database
  let queries: string[]
  let read: ReturnType<typeof createOwnedReader>

  beforeEach(async () => {
    const { write } = use.store
    const genesis = testGenesis()
    const commit = { ...genesis.commit, entries: [] }
    await write.initialize(use.term, { ...genesis, outputs: [], accounts: [], commit })
    await write.closeSlots(use.term, 10)
    const entries = outputIds.map((outputId) => ({ ...entry(1, 0), outputId }))
    await write.commitSlots(use.term, [slotCommit(1, entries)])
    const opened = await openDatabase({ url: use.url, log: silentLog })
    if (!opened.ok) throw new Error(opened.error.code)
    database = opened.value
    queries = []
    const query: Database['query'] = (sql, parameters) => {
      queries.push(sql)
      return database.query(sql, parameters)
    }
    read = createOwnedReader(createReading({ ...database, query }))
  })
  afterEach(() => database.close())

  const limit = 101
  const outputIdsOf = (page: readonly OwnedUpdate[] | undefined) =>
    present(page, 'a page').map(({ outputId }) => outputId)

  function behind(page: readonly OwnedUpdate[] | undefined) {
    const { milestoneIndex, outputId, isSpent } = present(page?.at(-1), 'a last row')
    return { slot: milestoneIndex, outputId, isSpent }
  }

  test.each(['ascending', 'descending'] as const)(
    'continue after the last row without a search: %s',
    async (order) => {
      const all = order === 'ascending' ? outputIds : outputIds.toReversed()
      let page = await read({ address, order, limit, from: undefined })
      for (let at = 0; at < 900; at += 100) {
        expect(outputIdsOf(page)).toEqual(all.slice(at, at + limit))
        page = await read({ address, order, limit, from: behind(page) })
      }
      expect(outputIdsOf(page)).toEqual(all.slice(900))
      expect(queries).toHaveLength(10)
      expect(queries.filter((sql) => sql.includes('commitments'))).toEqual([])
    },
  )

  test('search for an unknown position, within a limited number of rows', async () => {
    const from = (at: number) => ({
      slot: 1,
      outputId: present(outputIds[at], 'an output'),
      isSpent: false,
    })
    const question = { address, order: 'ascending', limit: 3 } as const
    expect(outputIdsOf(await read({ ...question, from: from(150) }))).toEqual(
      outputIds.slice(150, 153),
    )
    expect(await read({ ...question, from: from(500) })).toBeUndefined()
    queries.length = 0
    expect(outputIdsOf(await read({ ...question, from: from(150) }))).toEqual(
      outputIds.slice(150, 153),
    )
    expect(queries.filter((sql) => sql.includes('commitments'))).toEqual([])
    expect(outputIdsOf(await read({ ...question, from: { seq: 501 } }))).toEqual(
      outputIds.slice(500, 503),
    )
    queries.length = 0
    // The row that was searched for, and the last row of its page.
    for (const at of [500, 502]) {
      expect(outputIdsOf(await read({ ...question, from: from(at) }))).toEqual(
        outputIds.slice(at, at + 3),
      )
    }
    expect(queries.filter((sql) => sql.includes('commitments'))).toEqual([])
  })

  test('search again if the row is gone or replaced', async () => {
    const question = { address, order: 'ascending', limit: 101 } as const
    const from = behind(await read({ ...question, from: undefined }))
    await onDatabase(use.url, 'DELETE FROM ledger_updates WHERE seq <= 101')
    await republish(use.url)
    expect(outputIdsOf(await read({ ...question, from }))).toEqual(outputIds.slice(101, 202))
    expect(queries.at(-1)).toContain('commitments')
  })
})

import { Pool } from 'pg'
import { describe, expect, test } from 'vitest'
import { storeFaultOf } from '../../src/store/faults.ts'
import { openRawConnection } from '../../src/store/postgresql-raw.ts'
import { databases, useDatabase, useStore } from '../support/databases.ts'
import { extremeUpdate, greatestInteger } from '../support/store-rows.ts'

describe.each(databases)('raw statements of the writer on $name', ({ name, create }) => {
  const use = useStore(create)
  const below = useDatabase(use)

  const insert =
    'INSERT INTO pruned_tips (address, class, ordinal, "historyHash", "milestoneIndex")' +
    (name === 'sqlite'
      ? " VALUES (x'01', 0, ?, x'02', ?)"
      : " VALUES ('\\x01', 0, $1, '\\x02', $2)")

  test('gives every type of our tables as the client does', async () => {
    await below.opened.writer.ledgerUpdate.create({ data: extremeUpdate })
    const rows = await below.opened.raw.$queryRawUnsafe('SELECT * FROM ledger_updates')
    expect(rows).toEqual([extremeUpdate])
    const word = await below.opened.raw.$queryRawUnsafe(`SELECT 'words' AS word, NULL AS none`)
    expect(word).toEqual([{ word: 'words', none: null }])
  })

  test('counts the rows that it changes', async () => {
    expect(await below.opened.raw.$executeRawUnsafe(insert, greatestInteger, 2n)).toBe(1)
    expect(
      await below.opened.raw.$executeRawUnsafe('DELETE FROM pruned_tips WHERE class = 1'),
    ).toBe(0)
    expect(await below.opened.reader.prunedTip.findMany()).toMatchObject([
      { ordinal: greatestInteger },
    ])
  })

  test('keeps all of a transaction, or nothing where it throws', async () => {
    const failing = below.opened.raw.transact(async (tx) => {
      await tx.$executeRawUnsafe(insert, 1n, 2n)
      expect(await tx.$queryRawUnsafe('SELECT ordinal FROM pruned_tips')).toHaveLength(1)
      throw new Error('changed my mind')
    })
    await expect(failing).rejects.toThrow('changed my mind')
    expect(await below.opened.reader.prunedTip.count()).toBe(0)
    await below.opened.raw.transact((tx) => tx.$executeRawUnsafe(insert, 1n, 2n))
    expect(await below.opened.reader.prunedTip.count()).toBe(1)
  })

  test('waits for a transaction of the client, and the client for one of it', async () => {
    const order: string[] = []
    const ofClient = below.opened.writer.$transaction(async (tx) => {
      order.push('client')
      await tx.prunedTip.count()
      order.push('client')
    })
    const ofRaw = below.opened.raw.transact(async (tx) => {
      order.push('raw')
      await tx.$queryRawUnsafe('SELECT ordinal FROM pruned_tips')
      order.push('raw')
    })
    await Promise.all([ofClient, ofRaw])
    // Whichever is first.
    const [first] = order
    expect(order).toEqual(
      first === 'raw' ? ['raw', 'raw', 'client', 'client'] : ['client', 'client', 'raw', 'raw'],
    )
  })

  test.runIf(name === 'postgresql')('cuts a transaction that lasts too long', async () => {
    const pool = new Pool({ connectionString: use.url, max: 1 })
    const { transact } = openRawConnection(pool, 50)
    const failure: unknown = await transact((tx) =>
      tx.$queryRawUnsafe('SELECT pg_sleep(60)'),
    ).catch((thrown: unknown) => thrown)
    expect(storeFaultOf(failure)).toBe('AWAY')
    expect(await transact((tx) => tx.$queryRawUnsafe('SELECT 7 AS n'))).toEqual([{ n: 7 }])
    await pool.end()
  })

  test.runIf(name === 'sqlite')(
    'fails with a fault that passes while the file is locked',
    async () => {
      await below.opened.raw.$queryRawUnsafe('PRAGMA busy_timeout = 1')
      const other = await below.opened.connect()
      await other.executeScript('BEGIN IMMEDIATE')
      const failure: unknown = await below.opened.raw
        .transact((tx) => tx.$executeRawUnsafe(insert, 1n, 2n))
        .catch((thrown: unknown) => thrown)
      await other.executeScript('ROLLBACK')
      await other.dispose()
      expect(storeFaultOf(failure)).toBe('AWAY')
      await below.opened.raw.transact((tx) => tx.$executeRawUnsafe(insert, 1n, 2n))
      expect(await below.opened.reader.prunedTip.count()).toBe(1)
    },
  )
})

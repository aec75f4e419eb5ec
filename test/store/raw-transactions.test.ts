import { Pool } from 'pg'
import { describe, expect, test } from 'vitest'
import { storeFaultOf } from '../../src/store/faults.ts'
import { openRawConnection } from '../../src/store/postgresql/raw.ts'
import { rawConnection } from '../../src/store/raw-transactions.ts'
import { databases, useDatabase, useStore } from '../support/databases.ts'
import { extremeUpdate, greatestInteger } from '../support/store-rows.ts'

describe.each(databases)('raw statements of the writer on $name', ({ name, create }) => {
  const use = useStore(create)
  const database = useDatabase(use)

  const insert =
    'INSERT INTO pruned_tips (address, class, ordinal, "historyHash", "milestoneIndex")' +
    (name === 'sqlite'
      ? " VALUES (x'01', 0, ?, x'02', ?)"
      : " VALUES ('\\x01', 0, $1, '\\x02', $2)")

  test('return every type of our tables as the client does', async () => {
    await database.opened.writer.ledgerUpdate.create({ data: extremeUpdate })
    const rows = await database.opened.raw.$queryRawUnsafe('SELECT * FROM ledger_updates')
    expect(rows).toEqual([extremeUpdate])
    const word = await database.opened.raw.$queryRawUnsafe(`SELECT 'words' AS word, NULL AS none`)
    expect(word).toEqual([{ word: 'words', none: null }])
  })

  test('count the rows that they change', async () => {
    expect(await database.opened.raw.$executeRawUnsafe(insert, greatestInteger, 2n)).toBe(1)
    expect(
      await database.opened.raw.$executeRawUnsafe('DELETE FROM pruned_tips WHERE class = 1'),
    ).toBe(0)
    expect(await database.opened.reader.prunedTip.findMany()).toMatchObject([
      { ordinal: greatestInteger },
    ])
  })

  test('keep all of a transaction, or nothing if it throws', async () => {
    const failing = database.opened.raw.transact(async (tx) => {
      await tx.$executeRawUnsafe(insert, 1n, 2n)
      expect(await tx.$queryRawUnsafe('SELECT ordinal FROM pruned_tips')).toHaveLength(1)
      throw new Error('changed my mind')
    })
    await expect(failing).rejects.toThrow('changed my mind')
    expect(await database.opened.reader.prunedTip.count()).toBe(0)
    await database.opened.raw.transact((tx) => tx.$executeRawUnsafe(insert, 1n, 2n))
    expect(await database.opened.reader.prunedTip.count()).toBe(1)
  })

  test('leave a connection of their own usable after a failed statement', async () => {
    const connection = await database.opened.connect()
    const raw = rawConnection(async () => connection)
    const failing = raw.transact(async (tx) => {
      await tx.$executeRawUnsafe(insert, 1n, 2n)
      await tx.$queryRawUnsafe('SELECT nothing')
    })
    await expect(failing).rejects.toThrow(/nothing|ColumnNotFound/)
    expect(await raw.$queryRawUnsafe('SELECT ordinal FROM pruned_tips')).toEqual([])
    await raw.transact((tx) => tx.$executeRawUnsafe(insert, 1n, 2n))
    expect(await database.opened.reader.prunedTip.count()).toBe(1)
    await connection.dispose()
  })

  test('wait for a transaction of the client, and the client waits for theirs', async () => {
    const order: string[] = []
    const ofClient = database.opened.writer.$transaction(async (tx) => {
      order.push('client')
      await tx.prunedTip.count()
      order.push('client')
    })
    const ofRaw = database.opened.raw.transact(async (tx) => {
      order.push('raw')
      await tx.$queryRawUnsafe('SELECT ordinal FROM pruned_tips')
      order.push('raw')
    })
    await Promise.all([ofClient, ofRaw])
    // Either may be first.
    const [first] = order
    expect(order).toEqual(
      first === 'raw' ? ['raw', 'raw', 'client', 'client'] : ['client', 'client', 'raw', 'raw'],
    )
  })

  test.runIf(name === 'postgresql')('end a transaction that lasts too long', async () => {
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
    'fail with a temporary fault while the file is locked',
    async () => {
      await database.opened.raw.$queryRawUnsafe('PRAGMA busy_timeout = 1')
      const other = await database.opened.connect()
      await other.executeScript('BEGIN IMMEDIATE')
      const failure: unknown = await database.opened.raw
        .transact((tx) => tx.$executeRawUnsafe(insert, 1n, 2n))
        .catch((thrown: unknown) => thrown)
      await other.executeScript('ROLLBACK')
      await other.dispose()
      expect(storeFaultOf(failure)).toBe('AWAY')
      await database.opened.raw.transact((tx) => tx.$executeRawUnsafe(insert, 1n, 2n))
      expect(await database.opened.reader.prunedTip.count()).toBe(1)
    },
  )
})

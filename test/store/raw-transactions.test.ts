import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { silentLog } from '../../src/lib/log.ts'
import { databaseOf } from '../../src/store/connect.ts'
import type { Database } from '../../src/store/database.ts'
import { storeFaultOf } from '../../src/store/faults.ts'
import { databases, useStore } from '../support/databases.ts'

describe.each(databases)('raw statements of the writer on $name', ({ name, create }) => {
  const use = useStore(create)
  let opened: Database

  beforeEach(async () => {
    const result = await databaseOf({ url: use.url, wakeUrl: undefined, log: silentLog })
    if (!result.ok) throw new Error(result.error.code)
    opened = result.value
  })
  afterEach(() => opened.close())

  const most = 2n ** 63n - 1n
  const update = {
    seq: most,
    address: new Uint8Array(33).fill(255),
    class: 1,
    ordinal: 2n ** 53n + 1n,
    roles: 2 ** 31 - 1,
    milestoneIndex: 0n,
    outputId: new Uint8Array(),
    isSpent: true,
    historyHash: new Uint8Array(32),
    balance: null,
  }
  const insert =
    'INSERT INTO pruned_tips (address, class, ordinal, "historyHash", "milestoneIndex")' +
    (name === 'sqlite'
      ? " VALUES (x'01', 0, ?, x'02', ?)"
      : " VALUES ('\\x01', 0, $1, '\\x02', $2)")

  test('gives every type of our tables as the client does', async () => {
    await opened.writer.ledgerUpdate.create({ data: update })
    const rows = await opened.raw.$queryRawUnsafe('SELECT * FROM ledger_updates')
    expect(rows).toEqual([update])
    const word = await opened.raw.$queryRawUnsafe(`SELECT 'words' AS word, NULL AS none`)
    expect(word).toEqual([{ word: 'words', none: null }])
  })

  test('counts the rows that it changes', async () => {
    expect(await opened.raw.$executeRawUnsafe(insert, most, 2n)).toBe(1)
    expect(await opened.raw.$executeRawUnsafe('DELETE FROM pruned_tips WHERE class = 1')).toBe(0)
    expect(await opened.reader.prunedTip.findMany()).toMatchObject([{ ordinal: most }])
  })

  test('keeps all of a transaction, or nothing where it throws', async () => {
    const failing = opened.raw.transact(async (tx) => {
      await tx.$executeRawUnsafe(insert, 1n, 2n)
      expect(await tx.$queryRawUnsafe('SELECT ordinal FROM pruned_tips')).toHaveLength(1)
      throw new Error('changed my mind')
    })
    await expect(failing).rejects.toThrow('changed my mind')
    expect(await opened.reader.prunedTip.count()).toBe(0)
    await opened.raw.transact((tx) => tx.$executeRawUnsafe(insert, 1n, 2n))
    expect(await opened.reader.prunedTip.count()).toBe(1)
  })

  test('waits for a transaction of the client, and the client for one of it', async () => {
    const order: string[] = []
    const ofClient = opened.writer.$transaction(async (tx) => {
      await tx.prunedTip.count()
      order.push('client')
    })
    await Promise.all([ofClient, opened.raw.transact(async () => void order.push('raw'))])
    expect(order).toEqual(['client', 'raw'])
  })

  test.runIf(name === 'sqlite')(
    'fails with a fault that passes while the file is locked',
    async () => {
      await opened.raw.$queryRawUnsafe('PRAGMA busy_timeout = 1')
      const other = await opened.connect()
      await other.executeScript('BEGIN IMMEDIATE')
      const failure: unknown = await opened.raw
        .transact((tx) => tx.$executeRawUnsafe(insert, 1n, 2n))
        .catch((thrown: unknown) => thrown)
      await other.executeScript('ROLLBACK')
      await other.dispose()
      expect(storeFaultOf(failure)).toBe('AWAY')
      await opened.raw.transact((tx) => tx.$executeRawUnsafe(insert, 1n, 2n))
      expect(await opened.reader.prunedTip.count()).toBe(1)
    },
  )
})

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { silentLog } from '../../../src/lib/log.ts'
import { storeFaultOf } from '../../../src/store/faults.ts'
import { openStore } from '../../../src/store/open.ts'
import { openFile } from '../../../src/store/sql/sqlite/file.ts'
import { type SqliteQueries, sqliteQueries } from '../../../src/store/sqlite/queries.ts'
import { sqliteOnThread } from '../../../src/store/sqlite/thread.ts'
import { takenLease } from '../../support/databases.ts'
import { unwrap } from '../../support/log-store.ts'
import { entry, slotCommit, testGenesis } from '../../support/store-rows.ts'

/** Compares a connection on a thread of its own with one on this thread, and checks that the event loop stays free. */

let folder: string
let file: string
let thread: SqliteQueries
let here: SqliteQueries

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-thread-'))
  file = join(folder, 'a 50%?b#c.db')
  thread = await sqliteOnThread(file)
  here = sqliteQueries(openFile(file, 'WRITE'))
  await thread.executeScript(`
    PRAGMA journal_mode = WAL;
    CREATE TABLE things (
      id BIGINT PRIMARY KEY, bytes BLOB, more BLOB, text TEXT NOT NULL DEFAULT '', flag BOOLEAN, at DATETIME)`)
})

afterEach(async () => {
  await thread.close()
  await here.close()
  rmSync(folder, { recursive: true })
})

const query = (sql: string, ...args: readonly unknown[]) => ({
  sql,
  args: [...args],
  argTypes: [],
})

const numbers = (count: number) => `WITH RECURSIVE n (i) AS (
  SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`

describe('a connection on a thread', () => {
  test('returns the same rows, with empty bytes, nulls, and 64-bit integers', async () => {
    const insert = `INSERT INTO things (id, bytes, more, text, flag, at)
      ${numbers(3_000)} SELECT 9223372036854775807 - i * 1000000007,
        CASE i % 3 WHEN 0 THEN NULL WHEN 1 THEN x'' ELSE randomblob(i % 50) END,
        randomblob(32), 'Ä ' || i, i % 2, 1700000000123 + i FROM n`
    expect(await thread.executeRaw(query(insert))).toBe(3_000)
    for (const sql of [
      'SELECT * FROM things ORDER BY id',
      'SELECT bytes, more AS again, id FROM things WHERE id < 0',
      "SELECT NULL AS a, x'00ff' AS b, 1.5 AS c FROM things LIMIT 2",
    ]) {
      expect(await thread.queryRaw(query(sql))).toEqual(await here.queryRaw(query(sql)))
    }
  })

  test('runs a statement once for each list of parameters', async () => {
    const insert = 'INSERT INTO things (id, bytes, text) VALUES (?, ?, ?)'
    const lists = [1, 2, 3].map((id) => [BigInt(id), Uint8Array.of(id, 255), `${id}`])
    expect(await thread.executeEach(insert, lists)).toBe(3)
    const { rows } = await thread.queryRaw(query('SELECT id, bytes, text FROM things'))
    expect(rows).toEqual([1, 2, 3].map((id) => [id, Uint8Array.of(id, 255), `${id}`]))
  })

  test('fails like one on this thread', async () => {
    await thread.executeScript('INSERT INTO things (id) VALUES (1)')
    const statements = [
      query('INSERT INTO things (id) VALUES (1)'),
      query('INSERT INTO things (id, text) VALUES (2, NULL)'),
      query('SELECT * FROM colour'),
      query('SELECT ?', 2n ** 64n),
      query('SELECT ?', {}),
    ]
    for (const statement of statements) {
      const [onThread, onThisThread] = await Promise.all([
        thread.queryRaw(statement).catch(fieldsOf),
        here.queryRaw(statement).catch(fieldsOf),
      ])
      expect(onThread).toEqual(onThisThread)
    }
  })

  test('reports why a file cannot be opened', async () => {
    const refused = await sqliteOnThread(folder).catch((failure: unknown) => failure)
    expect(refused).toMatchObject({ code: 'ERR_SQLITE_ERROR', errcode: 14 })
    expect(storeFaultOf(refused)).toBe('AWAY')
  })

  test('rolls back an open transaction, and nothing else', async () => {
    await thread.executeScript('BEGIN IMMEDIATE; INSERT INTO things (id) VALUES (1)')
    await thread.endTransaction()
    await thread.endTransaction()
    await thread.executeScript('INSERT INTO things (id) VALUES (2)')
    expect((await here.queryRaw(query('SELECT id FROM things'))).rows).toEqual([[2]])
  })

  test('leaves the event loop free while it works, and keeps the order of the requests', async () => {
    const done: number[] = []
    const slow = `INSERT INTO things (id) ${numbers(300_000)} SELECT i FROM n`
    let isOver = false
    const working = (async () => {
      await Promise.all([
        thread.executeRaw(query(slow)).then((changed) => done.push(changed)),
        thread.executeRaw(query('DELETE FROM things')).then((changed) => done.push(changed)),
      ])
      isOver = true
    })()
    let turns = 0
    for (; !isOver; turns++) await setImmediate()
    await working
    expect(done).toEqual([300_000, 300_000])
    // On this thread there would be one turn, after both statements.
    expect(turns).toBeGreaterThan(100)
  })
})

test('a store with its writes on a thread commits, is read on this thread, and closes', async () => {
  const url = `file:${join(folder, 'ledger.db')}`
  const store = unwrap(await openStore({ url, log: silentLog, writesOn: 'THREAD' }))
  const term = await takenLease(store)
  unwrap(await store.write.initialize(term, testGenesis()))
  unwrap(await store.write.closeSlots(term, 1))
  unwrap(await store.write.commitSlots(term, [slotCommit(1, [entry(1, 1)])]))
  expect(await store.read.logTip()).toMatchObject({ slot: 1, seq: 2 })
  await store.close()
  const again = unwrap(await openStore({ url, log: silentLog, writesOn: 'THREAD' }))
  expect(await again.read.logTip()).toMatchObject({ slot: 1, seq: 2 })
  await again.close()
})

function fieldsOf(failure: unknown): object {
  if (!(failure instanceof Error)) throw failure
  // A failure that is not the adapter's loses its class.
  const { name, message, cause } = failure
  return { ...failure, isOfAdapter: name === 'DriverAdapterError', message, cause }
}

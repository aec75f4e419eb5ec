import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Store } from '../../../src/store/contract.ts'
import { keepCheckpoints } from '../../../src/store/sqlite/checkpoints.ts'
import { databases, openedStore, type TestDatabase } from '../../support/databases.ts'
import { createMemoryLog, type MemoryLog } from '../../support/memory-log.ts'
import { incomingBlock, testGenesis } from '../../support/store-rows.ts'
import { until } from '../../support/until.ts'

describe.each(databases.filter(({ name }) => name === 'sqlite'))('a file of $name', (kind) => {
  let database: TestDatabase
  let file: string
  let store: Store
  let last: number
  let memory: MemoryLog

  beforeEach(async () => {
    last = 0
    database = await kind.create()
    file = database.url.slice('file:'.length)
    memory = createMemoryLog()
    store = await openedStore(database.url, memory.log)
    const lease = await store.write.takeLease({ holder: 'test', ttlMs: 60_000 })
    if (!lease.ok) throw new Error(lease.error.code)
    await store.write.initialize(lease.value.term, testGenesis())
  })

  afterEach(async () => {
    await store.close()
    await database.remove()
  })

  /** Writes five megabytes of blocks: enough for a checkpoint by the thread, and too little for one by a commit. */
  async function write(): Promise<void> {
    const bytes = new Uint8Array(25_000)
    const blocks = Array.from({ length: 200 }, () => incomingBlock(++last, { slot: 1, bytes }))
    await store.write.acceptBlocks(blocks)
  }

  const sizeOf = (path: string) => statSync(path).size

  async function movedBytes(size: number): Promise<void> {
    await until(() => sizeOf(file) >= size, {
      what: 'the committed pages are in the database file',
    })
  }

  test('receives the committed pages, and its write-ahead log restarts', async () => {
    await write()
    expect(sizeOf(file)).toBeLessThan(5_000_000)
    await movedBytes(5_000_000)
    // A log that does not restart grows with every commit.
    const hasShrunk = async () => {
      const before = sizeOf(`${file}-wal`)
      await store.write.acceptBlocks([incomingBlock(++last, { slot: 1 })])
      return sizeOf(`${file}-wal`) <= before
    }
    await until(hasShrunk, { what: 'the log restarts' })
    expect(await store.read.newestInbox()).toBe(last)
  })

  const reported = () => memory.names('checkpoints-failing', 'checkpoints-back')

  /** Commits before every check, because the thread checks the log only when it has grown. */
  async function writeUntil(isSo: () => boolean): Promise<void> {
    const look = async () => {
      await store.write.acceptBlocks([incomingBlock(++last, { slot: 1 })])
      return isSo()
    }
    await until(look, { what: String(isSo) })
  }

  test('gets another thread after the first was killed, and the failure is logged', async () => {
    const threads: Worker[] = []
    const onThread = (thread: Worker) => void threads.push(thread)
    process.on('worker', onThread)
    await write()
    await writeUntil(() => threads.length === 1)
    const [first] = threads
    await first?.terminate()
    await writeUntil(() => reported().length === 2)
    process.off('worker', onThread)
    expect(reported()).toEqual(['checkpoints-failing', 'checkpoints-back'])
    const failing = memory.events().find(({ event }) => event === 'checkpoints-failing')
    expect(failing).toMatchObject({ level: 'warn', reason: 'the thread ended' })
    await movedBytes(5_000_000)
    expect(await store.read.newestInbox()).toBe(last)
    await store.close()
    expect(reported()).toHaveLength(2)
  })

  test('accepts commits without a thread, and the failure is logged once', async () => {
    let killed = 0
    const kill = (thread: Worker) => {
      killed++
      void thread.terminate()
    }
    process.on('worker', kill)
    await write()
    // This is more than a commit leaves to the thread, so a commit moves the log by itself.
    for (let n = 0; n < 20; n++) await write()
    expect(sizeOf(file)).toBeGreaterThan(40_000_000)
    await writeUntil(() => killed >= 3)
    expect(reported()).toEqual(['checkpoints-failing'])
    process.off('worker', kill)
    await writeUntil(() => reported().length === 2)
    expect(reported()).toEqual(['checkpoints-failing', 'checkpoints-back'])
    expect(await store.read.newestInbox()).toBe(last)
  })

  test('is reported when a long read prevents its checkpoint', async () => {
    await write()
    const reader = new DatabaseSync(file, { readOnly: true })
    reader.exec('BEGIN; SELECT count(*) FROM blocks')
    for (let n = 0; n < 28; n++) await write()
    await writeUntil(() => reported().length === 1)
    const failing = memory.events().find(({ event }) => event === 'checkpoints-failing')
    expect(failing?.reason).toMatch(/^a reader has kept the file open for so long/)
    reader.exec('COMMIT')
    reader.close()
    await writeUntil(() => reported().length === 2)
    expect(reported()).toEqual(['checkpoints-failing', 'checkpoints-back'])
  })

  test('is closed while a checkpoint runs, and leaves no write-ahead log', async () => {
    await write()
    await movedBytes(5_000_000)
    await write()
    await store.close()
    expect(statSync(`${file}-wal`, { throwIfNoEntry: false })).toBeUndefined()
    expect(sizeOf(file)).toBeGreaterThan(10_000_000)
    store = await openedStore(database.url)
    expect(await store.read.newestInbox()).toBe(last)
  })

  test('needs a version of SQLite in which a checkpoint and a concurrent write lose nothing', () => {
    const { sqlite: version = '' } = process.versions
    const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
    expect(major * 1e6 + minor * 1e3 + patch).toBeGreaterThanOrEqual(3_051_003)
  })

  test('stores the tables of its slots WITHOUT ROWID', () => {
    const reading = new DatabaseSync(file, { readOnly: true })
    const tables = reading.prepare('SELECT name FROM pragma_table_list WHERE wr = 1').all()
    reading.close()
    expect(tables.map(({ name }) => name).sort()).toEqual([
      'awaited_transactions',
      'balances',
      'block_parents',
      'chain_states',
      'due_outputs',
      'expiration_transfers',
      'index_keys',
      'pruned_tips',
      'token_balances',
      'unspent_outputs',
    ])
  })
})

test("a file that the thread cannot use is logged once, with SQLite's message", async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-checkpoints-'))
  const file = join(folder, 'test.db')
  writeFileSync(file, Buffer.alloc(20_000, 0xa5))
  const { log, events } = createMemoryLog()
  const attempts: unknown[] = []
  const onThread = (thread: Worker) =>
    void thread.on('message', (attempt) => attempts.push(attempt))
  process.on('worker', onThread)
  const checkpoints = keepCheckpoints(file, log)
  let n = 0
  const hasTriedTwice = () => {
    // The thread checks the log when it has changed.
    writeFileSync(`${file}-wal`, Buffer.alloc(4_000_000 + n++))
    return attempts.length >= 2
  }
  await until(hasTriedTwice, { what: 'two attempts' })
  await checkpoints.close()
  process.off('worker', onThread)
  rmSync(folder, { recursive: true })
  const reason = `${file}: file is not a database`
  expect(attempts[0]).toEqual({ ok: false, reason })
  expect(events()).toMatchObject([{ event: 'checkpoints-failing', level: 'warn', reason }])
})

import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { keepCheckpoints } from '../../src/store/checkpoints.ts'
import type { Store } from '../../src/store/contract.ts'
import { databases, openedStore, type TestDatabase } from '../support/databases.ts'
import { createMemoryLog, type MemoryLog } from '../support/memory-log.ts'
import { incomingBlock, testGenesis } from '../support/store-rows.ts'
import { until } from '../support/until.ts'

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

  /** Five megabytes of blocks: more than is worth moving, less than what makes a commit move it. */
  async function write(): Promise<void> {
    const bytes = new Uint8Array(25_000)
    const blocks = Array.from({ length: 200 }, () => incomingBlock(++last, { slot: 1, bytes }))
    await store.write.acceptBlocks(blocks)
  }

  const sizeOf = (path: string) => statSync(path).size

  async function moved(size: number): Promise<void> {
    await until(() => sizeOf(file) >= size, { what: 'what was committed is in the database file' })
  }

  test('takes up what was committed, and its log begins anew', async () => {
    await write()
    expect(sizeOf(file)).toBeLessThan(5_000_000)
    await moved(5_000_000)
    // A log that goes on grows with every commit.
    const hasShrunk = async () => {
      const before = sizeOf(`${file}-wal`)
      await store.write.acceptBlocks([incomingBlock(++last, { slot: 1 })])
      return sizeOf(`${file}-wal`) <= before
    }
    await until(hasShrunk, { what: 'the log begins anew' })
    expect(await store.read.newestInbox()).toBe(last)
  })

  const said = () => memory.names('checkpoints-failing', 'checkpoints-back')

  /** Commits before every look: the log is looked at only where it has grown. */
  async function writeUntil(isSo: () => boolean): Promise<void> {
    const look = async () => {
      await store.write.acceptBlocks([incomingBlock(++last, { slot: 1 })])
      return isSo()
    }
    await until(look, { what: String(isSo) })
  }

  test('says that the thread was killed, and takes another', async () => {
    const threads: Worker[] = []
    const onThread = (thread: Worker) => void threads.push(thread)
    process.on('worker', onThread)
    await write()
    await writeUntil(() => threads.length === 1)
    const [first] = threads
    await first?.terminate()
    await writeUntil(() => said().length === 2)
    process.off('worker', onThread)
    expect(said()).toEqual(['checkpoints-failing', 'checkpoints-back'])
    const failing = memory.events().find(({ event }) => event === 'checkpoints-failing')
    expect(failing).toMatchObject({ level: 'warn', reason: 'the thread ended' })
    await moved(5_000_000)
    expect(await store.read.newestInbox()).toBe(last)
    await store.close()
    expect(said()).toHaveLength(2)
  })

  test('commits as before where no thread lives, and says it once', async () => {
    let killed = 0
    const kill = (thread: Worker) => {
      killed++
      void thread.terminate()
    }
    process.on('worker', kill)
    await write()
    // More than a commit leaves to the thread: it moves the log by itself.
    for (let n = 0; n < 20; n++) await write()
    expect(sizeOf(file)).toBeGreaterThan(40_000_000)
    await writeUntil(() => killed >= 3)
    expect(said()).toEqual(['checkpoints-failing'])
    process.off('worker', kill)
    await writeUntil(() => said().length === 2)
    expect(said()).toEqual(['checkpoints-failing', 'checkpoints-back'])
    expect(await store.read.newestInbox()).toBe(last)
  })

  test('says that a reader who does not end keeps the log from being moved', async () => {
    await write()
    const reader = new DatabaseSync(file, { readOnly: true })
    reader.exec('BEGIN; SELECT count(*) FROM blocks')
    for (let n = 0; n < 28; n++) await write()
    await writeUntil(() => said().length === 1)
    const failing = memory.events().find(({ event }) => event === 'checkpoints-failing')
    expect(failing?.reason).toMatch(/^a reader has kept the file open for so long/)
    reader.exec('COMMIT')
    reader.close()
    await writeUntil(() => said().length === 2)
    expect(said()).toEqual(['checkpoints-failing', 'checkpoints-back'])
  })

  test('is closed while its log is moved, and left without one', async () => {
    await write()
    await moved(5_000_000)
    await write()
    await store.close()
    expect(statSync(`${file}-wal`, { throwIfNoEntry: false })).toBeUndefined()
    expect(sizeOf(file)).toBeGreaterThan(10_000_000)
    store = await openedStore(database.url)
    expect(await store.read.newestInbox()).toBe(last)
  })

  test('is kept by a SQLite in which moving and writing at once loses nothing', () => {
    const { sqlite: version = '' } = process.versions
    const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
    expect(major * 1e6 + minor * 1e3 + patch).toBeGreaterThanOrEqual(3_051_003)
  })

  test('keeps the tables of its slots once, and not as rows and as an index of their keys', () => {
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

test('a file that the thread cannot use is told in the words of SQLite, once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-checkpoints-'))
  const file = join(folder, 'test.db')
  writeFileSync(file, Buffer.alloc(20_000, 0xa5))
  const { log, events } = createMemoryLog()
  const attempts: unknown[] = []
  const onThread = (thread: Worker) => void thread.on('message', (said) => attempts.push(said))
  process.on('worker', onThread)
  const checkpoints = keepCheckpoints(file, log)
  let n = 0
  const hasTriedTwice = () => {
    // It is looked at when it has changed.
    writeFileSync(`${file}-wal`, Buffer.alloc(4_000_000 + n++))
    return attempts.length >= 2
  }
  await until(hasTriedTwice, { what: 'two attempts' })
  await checkpoints.close()
  process.off('worker', onThread)
  rmSync(folder, { recursive: true })
  const reason = 'file is not a database'
  expect(attempts[0]).toEqual({ ok: false, reason })
  expect(events()).toMatchObject([{ event: 'checkpoints-failing', level: 'warn', reason }])
})

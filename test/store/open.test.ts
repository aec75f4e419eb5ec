import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { silentLog } from '../../src/lib/log.ts'
import { openDatabase, openStore, type Schema } from '../../src/store/open.ts'
import { databaseUrlForms } from '../../src/store/url.ts'
import { openedStore, takenLease } from '../support/databases.ts'
import { createMemoryLog } from '../support/memory-log.ts'
import { blockIdOf, incomingBlock, testGenesis } from '../support/store-rows.ts'

describe('opening a store', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-open-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  test('creates the folder of the file, and logs the applied migrations', async () => {
    const { log, events } = createMemoryLog()
    const file = join(folder, 'a', 'b', 'test.db')
    const store = await openStore({ url: `file:${file}`, log })
    expect(store.ok).toBe(true)
    expect(existsSync(file)).toBe(true)
    expect(events()).toMatchObject([
      { event: 'migrations-applied', migrations: expect.arrayContaining([expect.any(String)]) },
    ])
    if (store.ok) await store.value.close()
  })

  test('resolves a relative path against the current folder', async () => {
    const file = join(folder, 'test.db')
    const store = await openedStore(`file:${relative(process.cwd(), file)}`)
    expect(existsSync(file)).toBe(true)
    await store.close()
  })

  const rejected = [
    'postgresql://user:secret@host',
    'postgresql:/user:secret@host/db',
    'mysql://user:secret@host/db',
    'file:',
    'file::memory:',
    'file:a.db?mode=ro',
    '',
  ]

  test.each(rejected)("rejects the URL '%s' without repeating it", async (url) => {
    const store = await openStore({ url, log: silentLog })
    const expected = databaseUrlForms
    expect(store).toEqual({ ok: false, error: { code: 'DATABASE_URL_NOT_SUPPORTED', expected } })
  })

  test('finds what an earlier store has written', async () => {
    const url = `file:${join(folder, 'test.db')}`
    const first = await openedStore(url)
    const term = await takenLease(first)
    await first.write.initialize(term, testGenesis())
    await first.write.acceptBlocks([incomingBlock(1)])
    await first.close()
    const second = await openedStore(url)
    expect((await second.read.block(blockIdOf(1)))?.state).toBe('PENDING')
    expect((await second.read.logTip()).seq).toBe(1)
    await second.close()
  })

  test('takes no lock if no migration is missing, and otherwise names the lock for which it waited in vain', async () => {
    const file = join(folder, 'test.db')
    const [upTo = ''] = readdirSync('prisma/migrations').sort()
    const open = (schema: Schema) => openStore({ url: `file:${file}`, log: silentLog, schema })
    const older = await openDatabase({ url: `file:${file}`, log: silentLog, schema: { upTo } })
    if (older.ok) await older.value.close()
    const writer = new DatabaseSync(file)
    writer.exec('BEGIN IMMEDIATE')
    expect(await open('CURRENT')).toEqual({
      ok: false,
      error: { code: 'DATABASE_UNUSABLE', reason: `${file}: database is locked` },
    })
    writer.exec('ROLLBACK')
    await (await openedStore(`file:${file}`)).close()
    writer.exec('BEGIN IMMEDIATE')
    const store = await open('CURRENT')
    expect(store.ok).toBe(true)
    if (store.ok) await store.value.close()
    writer.close()
  })

  test('finishes earlier writes on close and rejects later ones', async () => {
    const store = await openedStore(`file:${join(folder, 'test.db')}`)
    await takenLease(store)
    const accepting = store.write.acceptBlocks([incomingBlock(1)])
    await store.close()
    expect(await accepting).toEqual(['ACCEPTED'])
    await expect(store.write.acceptBlocks([incomingBlock(2)])).rejects.toThrow('the store is open')
    await expect(store.read.block(blockIdOf(1))).rejects.toThrow('the store is open')
  })
})

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { silentLog } from '../../src/lib/log.ts'
import { type Database, databaseOf } from '../../src/store/connect.ts'

/** What the settings are good for shows only when the power fails; so they are read back. */
describe('connections to sqlite', () => {
  let folder: string
  let database: Database

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-connect-'))
    const opened = await databaseOf({
      url: `file:${join(folder, 'test.db')}`,
      wakeUrl: undefined,
      log: silentLog,
    })
    if (!opened.ok) throw new Error(opened.error.code)
    database = opened.value
  })

  afterEach(async () => {
    await database.close()
    rmSync(folder, { recursive: true })
  })

  test('write ahead, and the writer syncs every commit', async () => {
    expect(await database.writer.$queryRaw`PRAGMA journal_mode`).toEqual([{ journal_mode: 'wal' }])
    expect(await database.writer.$queryRaw`PRAGMA synchronous`).toEqual([{ synchronous: 2n }])
  })

  test('keep their settings when the client connects anew', async () => {
    await database.writer.$queryRaw`PRAGMA synchronous`
    await database.writer.$disconnect()
    expect(await database.writer.$queryRaw`PRAGMA synchronous`).toEqual([{ synchronous: 2n }])
  })

  test('of readers cannot write', async () => {
    await database.writer.$executeRaw`CREATE TABLE network (id BIGINT PRIMARY KEY)`
    const write = database.reader.$executeRaw`INSERT INTO network (id) VALUES (1)`
    await expect(write).rejects.toThrow('readonly')
    expect(await database.reader.$queryRaw`SELECT * FROM network`).toEqual([])
  })
})

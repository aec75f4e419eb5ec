import { mkdtempSync, readdirSync, readlinkSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Prisma } from '../../src/generated/prisma/client.ts'
import { silentLog } from '../../src/lib/log.ts'
import { databaseOf } from '../../src/store/connect.ts'
import type { Database } from '../../src/store/database.ts'

/** Reads the settings back, because their effect shows only in a power failure. */
describe('connections to sqlite', () => {
  let folder: string
  let database: Database

  beforeEach(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'ledger-gateway-connect-')))
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

  test('keep their settings when the client connects again', async () => {
    await database.writer.$queryRaw`PRAGMA synchronous`
    await database.writer.$disconnect()
    expect(await database.writer.$queryRaw`PRAGMA synchronous`).toEqual([{ synchronous: 2n }])
  })

  test.runIf(process.platform === 'linux')(
    'keep no rollback data of a statement in a file',
    async () => {
      const insert = Prisma.sql`
      INSERT INTO places SELECT randomblob(33) FROM json_each(${JSON.stringify(Array(3_000).fill(0))})`
      await database.writer.$executeRaw`CREATE TABLE places (place BLOB PRIMARY KEY)`
      await database.writer.$executeRaw(insert)
      const files = await database.writer.$transaction(async (tx) => {
        await tx.$executeRaw(insert)
        return openFiles()
      })
      expect(files).toContain(join(folder, 'test.db'))
      expect(files.filter((name) => name.includes('etilqs_'))).toEqual([])
    },
  )

  test('of readers cannot write', async () => {
    await database.writer.$executeRaw`CREATE TABLE network (id BIGINT PRIMARY KEY)`
    const write = database.reader.$executeRaw`INSERT INTO network (id) VALUES (1)`
    await expect(write).rejects.toThrow('readonly')
    expect(await database.reader.$queryRaw`SELECT * FROM network`).toEqual([])
  })
})

/** Returns the paths of the files that this process has open. Temporary files of SQLite begin with `etilqs_`. */
function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      return [readlinkSync(`/proc/self/fd/${descriptor}`)]
    } catch {
      // This was the descriptor of the listing itself.
      return []
    }
  })
}

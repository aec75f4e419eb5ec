import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { backup } from '../../src/cli/backup.ts'
import { check } from '../../src/cli/check.ts'
import type { Command } from '../../src/cli/command.ts'
import { databaseMessage } from '../../src/cli/database-message.ts'
import { exportCommand } from '../../src/cli/export.ts'
import { importCommand } from '../../src/cli/import.ts'
import { rebuildActivity } from '../../src/cli/rebuild-activity.ts'
import { restore } from '../../src/cli/restore.ts'
import { snapshot } from '../../src/cli/snapshot.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLog } from '../../src/lib/log.ts'
import { openStore } from '../../src/store/open.ts'
import {
  databases,
  emptyDatabases,
  onDatabase,
  openedStore,
  type TestDatabase,
  takenLease,
} from '../support/databases.ts'
import { createMemoryLog } from '../support/memory-log.ts'
import { runCommand } from '../support/run-command.ts'
import { until } from '../support/until.ts'

/** This program on ledgers of former releases, and programs of two versions on one database (docs/upgrade.md). */

const root = fileURLToPath(new URL('../..', import.meta.url))
const releases = join(root, 'test/releases')
const files = readdirSync(releases).filter((file) => file.endsWith('.gz'))

describe.each(emptyDatabases)('a ledger of a former release on $name', ({ name, create }) => {
  let folder: string
  let database: TestDatabase
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-upgrade-'))
  })
  beforeEach(async () => {
    database = await create()
  })
  afterEach(() => database.remove())
  afterAll(() => rmSync(folder, { recursive: true }))

  const run = (command: Command, words: readonly string[] = []) =>
    runCommand(command, words, { env: { DATABASE_URL: database.url } })

  async function expectComplete(): Promise<void> {
    const { stdout } = await run(check)
    const { findings, updates } = JSON.parse(stdout)
    expect(findings).toEqual([])
    expect(updates).toBeGreaterThan(20)
    const store = await openedStore(database.url)
    expect((await store.read.logTip()).seq).toBe(updates)
    await store.close()
  }

  const usable = files.filter((file) => name === 'sqlite' || file.includes('.export'))

  test.each(usable)('%s is restored with the tables of this program', async (file) => {
    const path = join(folder, file)
    writeFileSync(path, gunzipSync(readFileSync(join(releases, file))))
    expect(await run(restore, [path])).toMatchObject({ code: 0 })
    await expectComplete()
  })

  test.runIf(name === 'sqlite').each(files.filter((file) => file.includes('.backup')))(
    '%s is opened and migrated as a database file',
    async (file) => {
      const path = database.url.slice('file:'.length)
      writeFileSync(path, gunzipSync(readFileSync(join(releases, file))))
      await (await openedStore(database.url)).close()
      await expectComplete()
    },
  )

  test('an export from before a migration gets its former tables and is then migrated', async () => {
    const path = join(folder, `${name}.earlier`)
    const [file = ''] = files.filter((one) => one.includes('.export'))
    writeFileSync(path, beforeTries(gunzipSync(readFileSync(join(releases, file))).toString()))
    expect(await run(restore, [path])).toMatchObject({ code: 0 })
    await expectComplete()
  })

  test('an export of a later version is rejected and changes nothing', async () => {
    const path = join(folder, `${name}.later`)
    const [file = ''] = files.filter((one) => one.includes('.export'))
    const text = gunzipSync(readFileSync(join(releases, file))).toString()
    writeFileSync(path, text.replace(/"migration":"[^"]*"/, '"migration":"99991231000000_later"'))
    expect(await run(restore, [path])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('newer than this program: it has the migration 9999'),
    })
    expect(await run(check)).toMatchObject({ code: 1, stderr: expect.stringMatching(/no ledger/) })
  })
})

test('the changelog states whether a version has a migration', () => {
  const former = files.filter((file) => file.includes('.export')).toSorted()
  const [header = ''] = gunzipSync(readFileSync(join(releases, former.at(-1) ?? '')))
    .toString()
    .split('\n')
  const newest = readdirSync(join(root, 'prisma/migrations')).toSorted().at(-1)
  const [, unreleased = ''] = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').split('\n## ')
  const hasMigration = JSON.parse(header).migration !== newest
  expect(unreleased.includes('\n**Migrations**: ')).toBe(hasMigration)
})

describe('a command for an existing ledger', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-there-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const commands: readonly (readonly [string, Command, readonly string[]])[] = [
    ['check', check, []],
    ['export', exportCommand, []],
    ['rebuild-activity', rebuildActivity, []],
    ['snapshot write', snapshot, ['write', 'FOLDER/snapshot']],
    ['restore --accept', restore, ['--accept']],
  ]
  const run = (command: Command, words: readonly string[]) => {
    const paths = words.map((word) => word.replace('FOLDER', folder))
    const env = { DATABASE_URL: `file:${join(folder, 'data/ledger.db')}` }
    return runCommand(command, paths, { env })
  }

  test.each([
    ...commands,
    ['backup', backup, ['FOLDER/backup']] as const,
    ['import', importCommand, ['--file', 'FOLDER/none']] as const,
    ['restore', restore, ['FOLDER/none']] as const,
  ])('creates no ledger: %s', async (name, command, words) => {
    const { code, stdout, stderr } = await run(command, words)
    expect([code, stdout]).toEqual([1, ''])
    const isFileMissing = words[0] === '--file' || name === 'restore'
    expect(stderr).toContain(isFileMissing ? 'ENOENT' : `there is no ledger in ${folder}/data/`)
    expect(readdirSync(folder)).toEqual([])
  })

  // Only the start of a gateway, which logs it, and a restore into an empty database migrate.
  test.each(commands)(
    'does not change a ledger of an earlier version: %s',
    async (_name, command, words) => {
      mkdirSync(join(folder, 'data'))
      const file = join(folder, 'data/ledger.db')
      writeFileSync(file, gunzipSync(readFileSync(join(releases, '0.1.0.backup.gz'))))
      const before = contentsOf(file)
      expect(await run(command, words)).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringContaining('was written by an earlier version'),
      })
      expect(contentsOf(file)).toEqual(before)
      expect(readdirSync(folder)).toEqual(['data'])
    },
  )
})

/** Returns the tables of a file and the number of rows of each. */
function contentsOf(file: string): readonly unknown[] {
  const database = new DatabaseSync(file, { readOnly: true })
  const tables = database.prepare("SELECT name, sql FROM sqlite_master WHERE type = 'table'").all()
  const counts = tables.map(({ name }) => database.prepare(`SELECT count(*) FROM ${name}`).get())
  database.close()
  return [...tables, ...counts]
}

/** Returns an export as written by the version before tries. */
function beforeTries(text: string): string {
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  const isOlder = (name: unknown) => name !== 'trie_pages' && name !== 'trie_state'
  const [header, ...rest] = lines
  const { tables } = header
  const former = {
    ...header,
    migration: '20261122112916_address_transactions',
    tables: tables.filter((one: { name: string }) => isOlder(one.name)),
  }
  const kept = [former, ...rest.slice(0, -1).filter(({ table }) => isOlder(table))]
  const body = kept.map((line) => `${JSON.stringify(line)}\n`).join('')
  const digest = `0x${createHash('sha256').update(body).digest('hex')}`
  return `${body}${JSON.stringify({ lines: kept.length, digest })}\n`
}

/** Reverts the newest migration. */
const withoutNewest = `DROP TABLE published_tip;
  DELETE FROM _prisma_migrations WHERE migration_name LIKE '%_published_tip'`

describe.each(databases)('two versions on one $name', ({ create }) => {
  let database: TestDatabase
  beforeEach(async () => {
    database = await create()
  })
  afterEach(() => database.remove())

  /** Renews the lease as its holder does, until the returned function is called. */
  function renewing(): () => Promise<unknown> {
    let isAlive = true
    const ended = until(async () => {
      await onDatabase(database.url, `UPDATE writer SET until = ${Date.now() + 3_000}`)
      return !isAlive
    })
    return () => {
      isAlive = false
      return ended
    }
  }

  test('the newer version is rejected while an older one writes, and logs a migration before it starts', async () => {
    const older = await openedStore(database.url)
    await takenLease(older)
    await onDatabase(database.url, withoutNewest)
    const stopRenewing = renewing()
    const { log, lines } = createMemoryLog(systemClock)
    const refused = await openStore({ url: database.url, log })
    if (refused.ok) throw new Error('the database was opened')
    expect(refused.error).toEqual({
      code: 'DATABASE_IN_USE',
      holder: 'test',
      leftMs: expect.any(Number),
      migration: expect.stringContaining('_published_tip'),
    })
    expect(databaseMessage(refused.error)).toContain('stop every gateway on it')
    expect(lines.filter((line) => line.includes('migrat'))).toEqual([])
    await stopRenewing()
    // The lease of a killed process expires.
    await onDatabase(database.url, `UPDATE writer SET until = ${Date.now() + 600}`)

    await (await openedStore(database.url, log)).close()
    expect(lines.filter((line) => line.includes('migrat')).map((line) => JSON.parse(line))).toEqual(
      [
        expect.objectContaining({ level: 'warn', event: 'migrating', isFinal: true }),
        expect.objectContaining({ level: 'info', event: 'migrations-applied' }),
      ],
    )
    await older.close()
  })

  test('the newer version starts after the clock of the database was set back, unless the older one writes', async () => {
    const older = await openedStore(database.url)
    await takenLease(older)
    const inAnHour = `UPDATE writer SET until = ${Date.now() + 3_600_000}`
    await onDatabase(database.url, `${withoutNewest}; ${inAnHour}`)
    const open = () => openStore({ url: database.url, log: silentLog })
    const stopRenewing = renewing()
    expect(await open()).toMatchObject({ ok: false, error: { code: 'DATABASE_IN_USE' } })
    await stopRenewing()
    await onDatabase(database.url, inAnHour)
    const opened = await open()
    if (opened.ok) await opened.value.close()
    expect(opened).toMatchObject({ ok: true })
    await older.close()
  })

  test('the newer version does not migrate after the signal to stop, although the lease expires', async () => {
    const older = await openedStore(database.url)
    await takenLease(older)
    await onDatabase(
      database.url,
      `${withoutNewest}; UPDATE writer SET until = ${Date.now() + 600}`,
    )
    const opened = await openStore({
      url: database.url,
      log: silentLog,
      stopping: AbortSignal.abort(),
    })
    if (opened.ok) await opened.value.close()
    expect(opened).toMatchObject({ ok: false, error: { code: 'DATABASE_IN_USE' } })
    await older.close()
  })

  test('the older version neither writes nor starts after a migration by the newer one', async () => {
    const older = await openedStore(database.url)
    const later = `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
      SELECT 'later', checksum, '99991231000000_later', finished_at, 1 FROM _prisma_migrations LIMIT 1`
    await onDatabase(database.url, later)
    await expect(takenLease(older)).rejects.toThrow(
      'the database is newer than this program: it has the migration 99991231000000_later',
    )
    await older.close()
    const { log } = createMemoryLog(systemClock)
    expect(await openStore({ url: database.url, log })).toEqual({
      ok: false,
      error: { code: 'DATABASE_NEWER_THAN_PROGRAM', migration: '99991231000000_later' },
    })
    await onDatabase(database.url, "DELETE FROM _prisma_migrations WHERE id = 'later'")
  })
})

import { execFileSync, spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { backup } from '../../src/cli/backup.ts'
import { check } from '../../src/cli/check.ts'
import type { Command, ProcessIo } from '../../src/cli/command.ts'
import { exportCommand } from '../../src/cli/export.ts'
import { restore } from '../../src/cli/restore.ts'
import { canIsolate } from '../deploy/container.ts'
import {
  databases,
  onDatabase,
  openedStore,
  type TestDatabase,
  takenLease,
} from '../support/databases.ts'
import { runCommand } from '../support/run-command.ts'
import { entry, slotCommit, testGenesis } from '../support/store-rows.ts'
import { until } from '../support/until.ts'

describe.each(databases)('a backup on $name', ({ name, create }) => {
  let folder: string
  let file: string
  let from: TestDatabase
  let to: TestDatabase
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-backup-'))
    file = join(folder, 'ledger.backup')
    from = await create()
    to = await create()
  })
  afterEach(async () => {
    rmSync(folder, { recursive: true })
    await from.remove()
    await to.remove()
  })

  async function createLedger(): Promise<void> {
    const store = await openedStore(from.url)
    const term = await takenLease(store)
    await store.write.initialize(term, testGenesis())
    await store.write.closeSlots(term, 1)
    await store.write.commitSlots(term, [slotCommit(1, [entry(1, 1), entry(1, 2)])])
    await store.close()
  }

  function run(command: Command, words: readonly string[], given: Partial<ProcessIo> = {}) {
    const DATABASE_URL = command === backup ? from.url : to.url
    return runCommand(command, words, { env: { DATABASE_URL }, ...given })
  }

  test('is restored completely, but with another log id and without the lease', async () => {
    await createLedger()
    expect(await run(backup, [file])).toMatchObject({ code: 0 })
    expect(readdirSync(folder)).toEqual(['ledger.backup'])
    const before = readFileSync(file)
    expect(await run(restore, [file])).toMatchObject({ code: 0 })
    expect(readFileSync(file)).toEqual(before)
    const [old, restored] = [await openedStore(from.url), await openedStore(to.url)]
    const { logId: former, ...rest } = await old.read.logTip()
    const { logId, ...same } = await restored.read.logTip()
    expect(same).toEqual(rest)
    expect(logId).not.toBe(former)
    expect(await restored.write.takeLease({ holder: 'next', ttlMs: 1_000 })).toMatchObject({
      ok: true,
    })
    await Promise.all([old.close(), restored.close()])
    expect(await run(restore, [file])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /already (holds a ledger; name an empty one|contains a database; name one that does not exist)\n$/,
      ),
    })
  })

  test('of a database with lost data is restored without that mark', async () => {
    await createLedger()
    await onDatabase(from.url, 'UPDATE published_tip SET "rewoundFrom" = 2')
    expect(await run(backup, [file])).toMatchObject({ code: 0 })
    expect(await run(restore, [file])).toMatchObject({ code: 0 })
    const restored = await openedStore(to.url)
    expect(await takenLease(restored)).toBeGreaterThan(0)
    await restored.close()
  })

  test('replaces a file only with --force, and leaves no file when it fails', async () => {
    expect(await run(backup, [file])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no ledger'),
    })
    await createLedger()
    writeFileSync(file, 'mine')
    expect(await run(backup, [file])).toEqual({
      code: 1,
      stdout: '',
      stderr: `ledger-gateway backup: ${file} already exists; --force replaces it\n`,
    })
    const stopped = Promise.resolve('SIGTERM' as const)
    expect(await run(backup, [file, '--force'], { stopped })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('interrupted'),
    })
    expect(readFileSync(file, 'utf8')).toBe('mine')
    expect(readdirSync(folder)).toEqual(['ledger.backup'])
    const isTerminal = true
    const made = await run(backup, [file, '--force'], { isTerminal })
    expect(made).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/Keep with it: .+\n$/),
    })
    expect(readFileSync(file).length).toBeGreaterThan(1_000)
  })

  test.runIf(name === 'sqlite')(
    'does not replace its own database, a folder or a pipe',
    async () => {
      await createLedger()
      const database = from.url.replace('file:', '')
      expect(await run(backup, [database, '--force'])).toEqual({
        code: 1,
        stdout: '',
        stderr: `ledger-gateway backup: ${database} is the database itself\n`,
      })
      const pipe = join(folder, 'pipe')
      execFileSync('mkfifo', [pipe])
      for (const path of [folder, pipe]) {
        expect((await run(backup, [path, '--force'])).stderr).toBe(
          `ledger-gateway backup: ${path} is not a file\n`,
        )
      }
    },
  )

  test.runIf(name === 'sqlite')('is restored by one of two commands at once', async () => {
    await createLedger()
    await run(backup, [file])
    const both = await Promise.all([run(restore, [file]), run(restore, [file])])
    expect(both.map(({ code }) => code).sort()).toEqual([0, 1])
    const restored = await openedStore(to.url)
    expect(await restored.read.logTip()).toMatchObject({ slot: 1 })
    await restored.close()
  })

  test.runIf(name === 'sqlite')('is not restored beside a former write-ahead log', async () => {
    await createLedger()
    await run(backup, [file])
    const database = to.url.replace('file:', '')
    writeFileSync(`${database}-wal`, '')
    expect(await run(restore, [file])).toEqual({
      code: 1,
      stdout: '',
      stderr: `ledger-gateway restore: ${database}-wal is left of a former database; remove it first\n`,
    })
    expect(existsSync(database)).toBe(false)
  })

  test.runIf(name === 'sqlite')('leaves a database or a backup with the ending .part', async () => {
    await createLedger()
    const part = `${file}.part`
    await run(backup, [part])
    const before = readFileSync(part)
    const restored = await runCommand(restore, [part], { env: { DATABASE_URL: `file:${file}` } })
    expect(restored.code).toBe(0)
    const env = { DATABASE_URL: `file:${part}` }
    expect(await runCommand(backup, [file, '--force'], { env })).toMatchObject({ code: 0 })
    expect(readFileSync(part)).toEqual(before)
  })

  test.runIf(name === 'sqlite')('replaces no database that was created meanwhile', async () => {
    await createLedger()
    await run(backup, [file])
    const database = to.url.replace('file:', '')
    const names = () => readdirSync(dirname(database))
    const restoring = run(restore, [file])
    await until(() => names().length > 0, { what: 'the restore has begun' })
    writeFileSync(database, 'mine')
    expect(await restoring).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('already contains a database'),
    })
    expect(readFileSync(database, 'utf8')).toBe('mine')
    expect(names()).toEqual([basename(database)])
  })

  test.runIf(name === 'sqlite')('is not changed by commands that read it', async () => {
    await createLedger()
    await run(backup, [file])
    const before = readFileSync(file)
    const env = { DATABASE_URL: `file:${file}` }
    await runCommand(check, [], { env })
    const to = join(folder, 'ledger.export')
    expect(await runCommand(exportCommand, ['--file', to], { env })).toMatchObject({ code: 0 })
    expect(readdirSync(folder)).toEqual(['ledger.backup', 'ledger.export'])
    expect(readFileSync(file)).toEqual(before)
  })

  // Root may write into every folder but one of a file system that is mounted for reading.
  test.runIf(name === 'sqlite' && canIsolate())('is read on a read-only disk', async () => {
    await createLedger()
    await run(backup, [file])
    copyFileSync(from.url.replace('file:', ''), join(folder, 'ledger.db'))
    const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
    const script = `mount --bind ${folder} ${folder}; mount -o remount,ro,bind ${folder}; exec "$@"`
    const isolated = ['--mount', '--propagation', 'private', 'sh', '-ec', script, 'sh']
    const read = (name: string) => {
      const words = [process.execPath, main, 'export', '--database', `file:${join(folder, name)}`]
      return spawnSync('unshare', [...isolated, ...words], { encoding: 'utf8' })
    }
    expect(read('ledger.backup')).toMatchObject({ status: 0, stderr: '' })
    // SQLite reads a file with a write-ahead log only with two files beside it.
    const { status, stderr } = read('ledger.db')
    expect([status, stderr]).toEqual([1, expect.stringContaining(`${folder} cannot be written; `)])
  })

  test.runIf(name === 'postgresql')('is written by a role that may only read', async () => {
    await createLedger()
    const url = new URL(from.url)
    const [role, password] = [`reader_${process.pid}`, 'hush']
    await onDatabase(from.url, `CREATE ROLE ${role} LOGIN PASSWORD '${password}'`)
    await onDatabase(from.url, `GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${role}`)
    const { href: DATABASE_URL } = Object.assign(url, { username: role, password })
    const made = await run(backup, [file], { env: { DATABASE_URL } })
    await onDatabase(from.url, `DROP OWNED BY ${role}; DROP ROLE ${role}`)
    expect(made).toMatchObject({ code: 0, stderr: '' })
    expect(await run(restore, [file])).toMatchObject({ code: 0 })
  })

  test('names the folder that does not exist', async () => {
    await createLedger()
    expect(await run(backup, [join(folder, 'none', 'ledger.backup')])).toEqual({
      code: 1,
      stdout: '',
      stderr: `ledger-gateway backup: ${join(folder, 'none')}: no such file or directory (ENOENT)\n`,
    })
  })

  test('lists the keys that must be kept with it', async () => {
    await createLedger()
    const env = { DATABASE_URL: from.url, JWT_SECRET: 's'.repeat(40), ISSUER_KEY: 'none of yours' }
    const { stdout } = await run(backup, [file], { env })
    expect(JSON.parse(stdout).keepBeside).toEqual([
      'the value of JWT_SECRET',
      'the value of ISSUER_KEY',
    ])
    expect(stdout).not.toContain('sss')
    const KEY_FILE = join(folder, 'test.key')
    const keptWith = async () => {
      const run = await runCommand(backup, [file, '--force'], {
        env: { DATABASE_URL: from.url, KEY_FILE },
      })
      return JSON.parse(run.stdout).keepBeside
    }
    expect(await keptWith()).toEqual([
      'the file of KEY_FILE or the value of JWT_SECRET of the gateway',
    ])
    writeFileSync(KEY_FILE, '')
    expect(await keptWith()).toEqual([KEY_FILE])
  })

  test('is not restored from a missing, damaged or other file', async () => {
    writeFileSync(file, 'hello\n')
    const refusals = [
      [[file], /is not a backup/] as const,
      [
        [join(folder, 'none')],
        /: FILE names .*none, which cannot be read: no such .* \(ENOENT\)\n$/,
      ] as const,
      [[folder], /is not a file/] as const,
      [['/dev/null'], /is not a file/] as const,
    ]
    for (const [words, message] of refusals) {
      expect(await run(restore, words)).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(message),
      })
    }
    expect(await run(restore, [])).toMatchObject({ code: 2 })
    await createLedger()
    await run(backup, [file, '--force'])
    const bytes = readFileSync(file)
    writeFileSync(file, bytes.subarray(0, bytes.length - 5_000))
    expect(await run(restore, [file])).toMatchObject({ code: 1 })
    if (name === 'sqlite') expect(existsSync(to.url.slice('file:'.length))).toBe(false)
  })
})

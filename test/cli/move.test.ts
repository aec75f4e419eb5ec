import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { backup } from '../../src/cli/backup.ts'
import { check } from '../../src/cli/check.ts'
import type { Command, StopSignal } from '../../src/cli/command.ts'
import { exportCommand } from '../../src/cli/export.ts'
import { importCommand } from '../../src/cli/import.ts'
import { rebuildActivity } from '../../src/cli/rebuild-activity.ts'
import { snapshot } from '../../src/cli/snapshot.ts'
import type { Environment } from '../../src/config.ts'
import { silentLog } from '../../src/lib/log.ts'
import { ok } from '../../src/lib/result.ts'
import { enterDatabase } from '../../src/node/enter-database.ts'
import { databases, openedStore, type TestDatabase, takenLease } from '../support/databases.ts'
import { runCommand } from '../support/run-command.ts'
import { entry, slotCommit, testGenesis } from '../support/store-rows.ts'
import { until } from '../support/until.ts'

describe('a ledger is moved by export and import', () => {
  let folder: string
  let file: string
  let from: TestDatabase

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-move-'))
    file = join(folder, 'ledger.export')
    from = { url: `file:${join(folder, 'from.db')}`, remove: async () => {} }
    const store = await openedStore(from.url)
    const term = await takenLease(store)
    await store.write.initialize(term, testGenesis())
    await store.write.closeSlots(term, 1)
    await store.write.commitSlots(term, [slotCommit(1, [entry(1, 1), entry(1, 2)])])
    await store.write.releaseLease(term)
    await store.close()
    const exported = await run(exportCommand, ['--file', file], { DATABASE_URL: from.url })
    expect(exported).toEqual({ code: 0, message: '', report: { file, rows: expect.any(Number) } })
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  test.each(databases)('into $name', async ({ create }) => {
    const to = await create()
    const imported = await run(importCommand, ['--file', file], { DATABASE_URL: to.url })
    expect(imported).toMatchObject({ code: 0, message: '', report: { rows: expect.any(Number) } })
    const store = await openedStore(to.url)
    expect((await store.read.logTip()).seq).toBe(3)
    await store.close()
    const again = await run(importCommand, ['--file', file], { DATABASE_URL: to.url })
    expect(again).toMatchObject({
      code: 1,
      message: expect.stringContaining('already holds a ledger'),
    })
    await to.remove()
  })

  test('from process to process', async () => {
    const to = `file:${join(folder, 'piped.db')}`
    const script = '"$NODE" $PROGRAM export | DATABASE_URL="$TO" "$NODE" $PROGRAM import'
    const env = { NODE: process.execPath, PROGRAM: program, TO: to, DATABASE_URL: from.url }
    const { stdout, stderr } = await promisify(execFile)(
      'bash',
      ['-c', `set -o pipefail; ${script}`],
      {
        env: { PATH: process.env.PATH, ...env },
        cwd: root,
      },
    )
    // No progress, because standard error is not a terminal.
    expect(JSON.parse(stdout).rows).toBeGreaterThan(3)
    expect(stderr).not.toMatch(/rows/)
    const store = await openedStore(to)
    expect((await store.read.logTip()).seq).toBe(3)
    await store.close()
  })

  test('and continues after an interruption', async () => {
    const DATABASE_URL = `file:${join(folder, 'interrupted.db')}`
    const stdin = new PassThrough()
    stdin.write(readFileSync(file, 'utf8').slice(0, 200))
    // The process closes its input when it receives a signal.
    const stopped = new Promise<StopSignal>((resolve) => setImmediate(() => resolve('SIGINT')))
    void stopped.then(() => stdin.destroy())
    const cut = await runCommand(importCommand, [], { env: { DATABASE_URL }, stdin, stopped })
    expect([cut.code, cut.stderr]).toEqual([
      1,
      'ledger-gateway import: interrupted; run the command again with the same export to continue\n',
    ])
    expect(await run(importCommand, ['--file', file], { DATABASE_URL })).toMatchObject({ code: 0 })
  })

  test('and continues at once after the process was killed', async () => {
    const path = join(folder, 'killed.db')
    const DATABASE_URL = `file:${path}`
    const env = { PATH: process.env.PATH, DATABASE_URL }
    const child = spawn(process.execPath, [program, 'import'], { cwd: root, env })
    const ended = once(child, 'exit')
    child.stdin.write(readFileSync(file, 'utf8').slice(0, -200))
    await until(() => existsSync(path))
    const database = new DatabaseSync(path, { timeout: 10_000 })
    await until(() => {
      const [table] = database
        .prepare("SELECT name FROM sqlite_schema WHERE name = 'imports'")
        .all()
      return table !== undefined && database.prepare('SELECT 1 FROM imports').get() !== undefined
    })
    database.close()
    child.kill('SIGKILL')
    await ended
    expect(await run(importCommand, ['--file', file], { DATABASE_URL })).toMatchObject({
      code: 0,
      message: '',
    })
  })

  test('and the file of an interrupted export does not exist', async () => {
    const path = join(folder, 'stopped.export')
    const stopped = Promise.resolve('SIGTERM' as const)
    const env = { DATABASE_URL: from.url }
    const cut = await runCommand(exportCommand, ['--file', path], { env, stopped })
    expect([cut.code, cut.stderr]).toEqual([
      1,
      'ledger-gateway export: interrupted; no export was written\n',
    ])
    expect(readdirSync(folder).filter((name) => name.startsWith('stopped'))).toEqual([])
  })

  test('only with a complete export', async () => {
    const part = join(folder, 'part.export')
    writeFileSync(part, readFileSync(file, 'utf8').slice(0, -30))
    const DATABASE_URL = `file:${join(folder, 'part.db')}`
    const begun = await run(importCommand, ['--file', part], { DATABASE_URL })
    expect(begun).toEqual({ code: 1, message: expect.stringContaining('not a line of an export') })
    const to = join(folder, 'part')
    const others: readonly (readonly [Command, ...string[]])[] = [
      [check],
      [exportCommand, '--file', to],
      [backup, to],
      [snapshot, 'write', to],
      [rebuildActivity],
    ]
    for (const [command, ...words] of others) {
      const { code, message } = await run(command, words, { DATABASE_URL })
      expect([code, message]).toEqual([1, expect.stringMatching(/unfinished import|no ledger in/)])
    }
    expect(existsSync(to)).toBe(false)
    expect(await run(importCommand, ['--file', file], { DATABASE_URL })).toMatchObject({ code: 0 })
  })

  test('and no gateway enters the database before the import has finished', async () => {
    const DATABASE_URL = `file:${join(folder, 'entered.db')}`
    // The gateway opened the database before the first line arrived.
    const store = await openedStore(DATABASE_URL)
    const stdin = new PassThrough()
    const importing = runCommand(importCommand, [], { env: { DATABASE_URL }, stdin })
    await until(async () => ((await store.read.lease())?.leftMs ?? 0) > 0)
    const deps = { store, log: silentLog, holder: 'next', stopping: undefined }
    const genesis = async () => ok(testGenesis())
    const options = { networkName: undefined, keptBy: 'THIS_PROGRAM', genesis } as const
    const entering = enterDatabase(deps, options)
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
    stdin.write(`${lines.slice(0, -1).join('\n')}\n`)
    expect(await entering).toEqual({ ok: false, error: { code: 'IMPORT_UNFINISHED' } })
    stdin.end(lines.at(-1))
    expect(await importing).toMatchObject({ code: 0 })
    expect(await enterDatabase(deps, options)).toMatchObject({ ok: true })
    await store.close()
  })

  test('only from a database with a ledger, and without a file otherwise', async () => {
    const DATABASE_URL = `file:${join(folder, 'nothing.db')}`
    await (await openedStore(DATABASE_URL)).close()
    const to = join(folder, 'nothing.export')
    expect(await run(exportCommand, ['--file', to], { DATABASE_URL })).toEqual({
      code: 1,
      message: 'ledger-gateway export: the database holds no ledger\n',
    })
    expect(existsSync(to)).toBe(false)
  })

  const refusals: readonly (readonly [string, Command, string[], Environment, number, RegExp])[] = [
    ['an existing file', exportCommand, ['--file', 'HERE'], {}, 1, /here\.txt already exists\n$/],
    [
      'a missing file',
      importCommand,
      ['--file', 'NONE'],
      {},
      1,
      /: --file names .*, which cannot be read: no such .* \(ENOENT\)\n$/,
    ],
    [
      'a folder',
      importCommand,
      ['--file', 'FOLDER'],
      {},
      1,
      /: --file names .*, which cannot be read: it is a directory \(EISDIR\)\n$/,
    ],
    ['a file that is not an export', importCommand, ['--file', 'HERE'], {}, 1, /not an export/],
    ['an unknown flag', importCommand, ['--fast'], {}, 2, /--fast/],
    [
      'an unknown database',
      exportCommand,
      [],
      { DATABASE_URL: 'mysql://me:hush@h/d' },
      2,
      /DATABA/,
    ],
    [
      'an unreachable database',
      importCommand,
      [],
      { DATABASE_URL: 'postgresql://me:hush@127.0.0.1:1/d' },
      1,
      /cannot be used: .*ECONNREFUSED/,
    ],
  ]

  test.each(refusals)('but not with %s', async (_name, command, words, env, code, expected) => {
    const here = join(folder, 'here.txt')
    writeFileSync(here, 'hello')
    const paths = words.map((word) =>
      word.replace('HERE', here).replace('NONE', join(folder, 'no')).replace('FOLDER', folder),
    )
    const DATABASE_URL = command === exportCommand ? from.url : `file:${join(folder, 'empty.db')}`
    const refused = await run(command, paths, { DATABASE_URL, ...env })
    expect(refused).toEqual({ code, message: expect.stringMatching(expected) })
    expect(refused.message).not.toContain('hush')
    expect(readFileSync(here, 'utf8')).toBe('hello')
    expect(existsSync(join(folder, 'empty.db'))).toBe(false)
    expect(existsSync(join(folder, 'no'))).toBe(false)
  })
})

const root = fileURLToPath(new URL('../..', import.meta.url))
const program = 'src/main.ts'

async function run(command: Command, words: readonly string[], env: Environment) {
  const { code, stdout, stderr: message } = await runCommand(command, words, { env })
  return { code, message, ...(stdout !== '' && { report: JSON.parse(stdout) }) }
}

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { serve } from '../../src/cli/serve.ts'
import type { Environment } from '../../src/config.ts'
import { developmentParameters } from '../../src/node/embedded/development-parameters.ts'
import { ProtocolParameters } from '../../src/protocol/parameters.ts'
import { print } from '../../src/protocol/schema/schema.ts'
import {
  databases,
  emptyDatabases,
  onDatabase,
  openedStore,
  type TestDatabase,
} from '../support/databases.ts'
import { databaseUrl } from '../support/postgresql-server.ts'
import { spawnProgram, startProgram } from '../support/program.ts'
import { type CommandRun, runCommand } from '../support/run-command.ts'

/** The program rejects an unsuitable database with one sentence and exit code 1, and writes nothing. */

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-refused-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe.each(databases)('on $name the gateway rejects', ({ name, create }) => {
  const empty = emptyDatabases.find((kind) => kind.name === name)
  let database: TestDatabase

  beforeAll(async () => {
    database = await create()
    await (await startProgram(env(database.url))).end('SIGTERM')
    return () => database.remove()
  })

  test('a newer schema', async () => {
    await onDatabase(
      database.url,
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at)
      VALUES ('x', 'x', '99990101000000_flying', CURRENT_TIMESTAMP)`,
    )
    await expectRefused(
      database.url,
      env(database.url),
      /^the database is newer than this program: it has the migration 99990101000000_flying$/,
      serveAsProcess,
    )
    await onDatabase(database.url, "DELETE FROM _prisma_migrations WHERE id = 'x'")
  })

  test('a database of another version of the program', async () => {
    const [first] = readdirSync(migrations(name)).toSorted()
    const change = (how: string) =>
      `UPDATE _prisma_migrations SET checksum = ${how}(checksum) WHERE migration_name = '${first}'`
    await onDatabase(database.url, change('upper'))
    await expectRefused(
      database.url,
      env(database.url),
      /^the database was created with a different text of the migration \w+$/,
    )
    await onDatabase(database.url, change('lower'))
  })

  test('a database of another network', async () => {
    const file = join(folder, 'parameters.json')
    const parameters = { ...developmentParameters(1_700_000_000), networkName: 'elsewhere' }
    writeFileSync(file, JSON.stringify(print(ProtocolParameters, parameters)))
    await expectRefused(
      database.url,
      { ...env(database.url), PARAMETERS_FILE: file },
      /^the database holds the network "ledger-gateway-dev", not "elsewhere"$/,
    )
  })

  test('an empty database with NO_CREATE, but not one with a ledger', async () => {
    const other = await empty?.create()
    const url = other?.url ?? ''
    const place = url.replace(/^(file:|.*@)/, '')
    if (name === 'sqlite') writeFileSync(place, '')
    const message = await expectRefused(
      url,
      { ...env(url), NO_CREATE: 'on' },
      /^there is no ledger/,
    )
    expect(message).toContain(
      `there is no ledger in ${place}, and --no-create forbids creating one`,
    )
    await other?.remove()
    await (await startProgram({ ...env(database.url), NO_CREATE: 'on' })).end('SIGTERM')
  })

  test('tables without a ledger with NO_CREATE', async () => {
    const other = await create()
    // Creates the tables if the new database has none.
    await (await openedStore(other.url)).close()
    await expectRefused(other.url, { ...env(other.url), NO_CREATE: 'on' }, /^there is no ledger/)
    await other.remove()
  })

  test('a database that holds the tables of another program', async () => {
    const other = await empty?.create()
    const url = other?.url ?? ''
    await onDatabase(url, 'CREATE TABLE blocks (id INTEGER PRIMARY KEY, colour TEXT)')
    const expected =
      name === 'sqlite'
        ? /^the database cannot be used: .*: it holds the tables of another program$/
        : /^the database cannot be used: .*: a migration failed, and was rolled back: .*"blocks" already exists.*$/
    await expectRefused(url, env(url), expected)
    await other?.remove()
  })
})

test.runIf(process.platform === 'linux')(
  'a new database that has no room names the reason',
  async () => {
    const file = join(folder, 'small.db')
    const settings = env(`file:${file}`)
    const started = spawnProgram(settings, ['prlimit', '--fsize=100000:unlimited'])
    await expect(started.ready).rejects.toThrow('ended with 1')
    expect(started.logged()).toBe(
      `ledger-gateway serve: the database cannot be used: ${file}: a migration failed, and was rolled back: disk I/O error\n`,
    )
  },
)

describe('the gateway rejects', () => {
  const change = (part: object) => () => Object.assign(new URL(inject('postgresql').url), part).href
  const rows: readonly (readonly [string, () => string, RegExp])[] = [
    ['a closed port', change({ port: '1' }), /^the database cannot be used: .*ECONNREF/],
    ['an unknown host', change({ hostname: 'x.invalid' }), /^the data.* used: .*x\.invalid/],
    [
      'a missing certificate',
      change({ search: '?sslrootcert=/none/ca.pem' }),
      /^the data.* used: .*\/none\/ca\.pem/,
    ],
    ['an unknown database', change({ pathname: '/none' }), /^the data.* used: .*"none" does not/],
    [
      'a file below a file',
      () => `file:${text()}/x.db`,
      /^the data.* used: .* \((ENOTDIR|EEXIST)\)/,
    ],
    ['a folder', () => `file:${folder}`, /^the database cannot be used: .*: it is a folder/],
    [
      'a file that is not a database',
      () => `file:${text()}`,
      /^the data.* used: .*: file is not a data/,
    ],
  ]

  test.each(rows)('%s', async (_name, url, expected) => {
    const settings = env(url())
    const before = treeOf(folder)
    await expectRefused(undefined, settings, expected)
    expect(treeOf(folder).filter(isNoText)).toEqual(before.filter(isNoText))
    expect(readFileSync(text(), 'utf8')).toBe(words)
  })

  // The server of `TEST_DATABASE_URL` may accept any password.
  test.runIf(process.env.TEST_DATABASE_URL === undefined)('a wrong password', async () => {
    const url = change({ password: 'hush' })()
    const expected = /^the database cannot be used: .*: password authentication failed for user/
    const message = await expectRefused(undefined, env(url), expected)
    expect(message).not.toContain('hush')
  })

  test('a wrong WAKE_DATABASE_URL', async () => {
    const { url, template } = inject('postgresql')
    const wrong = { WAKE_DATABASE_URL: databaseUrl(url, 'none') }
    await expectRefused(
      undefined,
      { ...env(databaseUrl(url, template)), ...wrong },
      /^the database cannot be used: .*: WAKE_DATABASE_URL: .*"none" does not exist$/,
    )
  })

  const words = 'This is a text, and long enough to be taken for something else.'
  const isNoText = (path: string) => path !== 'text'

  function text(): string {
    const path = join(folder, 'text')
    writeFileSync(path, words)
    return path
  }
})

function env(url: string): Environment {
  const files = join(folder, 'files')
  mkdirSync(files, { recursive: true })
  return { DATABASE_URL: url, KEY_FILE: join(folder, 'files', 'test.key'), LOG_LEVEL: 'error' }
}

type Refusal = Pick<CommandRun, 'code' | 'stderr'>

/** Starts the gateway in this process, which loads it once for all tests. */
function serveHere(settings: Environment): Promise<Refusal> {
  return runCommand(serve, [], { env: { PORT: '0', ...settings } })
}

/** Starts the program, which must also end. */
async function serveAsProcess(settings: Environment): Promise<Refusal> {
  const started = spawnProgram(settings)
  await expect(started.ready).rejects.toThrow('ended with 1')
  return { code: 1, stderr: started.logged() }
}

/** Expects the start to fail without a change of the database, and returns its message. */
async function expectRefused(
  url: string | undefined,
  settings: Environment,
  expected: RegExp,
  start = serveHere,
): Promise<string> {
  rmSync(join(folder, 'files', 'test.key'), { force: true })
  const before = url && (await contentsOf(url))
  const { code, stderr } = await start(settings)
  expect(code).toBe(1)
  const [sentence = '', ...more] = stderr.split('\n')
  expect(more).toEqual([''])
  expect(sentence.replace(/^ledger-gateway serve: /, '')).toMatch(expected)
  expect(readdirSync(join(folder, 'files'))).toEqual([])
  if (url !== undefined) expect(await contentsOf(url)).toEqual(before)
  return sentence
}

/** Reads every row of every table with the driver alone. */
async function contentsOf(url: string): Promise<unknown> {
  if (url.startsWith('file:')) {
    const file = new DatabaseSync(url.slice('file:'.length), { readOnly: true })
    const names = file.prepare('SELECT name FROM sqlite_schema').all()
    const tables = file.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    const rows = tables.all().map(({ name }) => {
      const all = file.prepare(`SELECT * FROM ${name}`)
      all.setReadBigInts(true)
      return [name, all.all()]
    })
    file.close()
    return { names, rows }
  }
  const client = new Client({ connectionString: url })
  await client.connect()
  const { rows: tables } = await client.query<{ name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename",
  )
  const contents = []
  for (const { name } of tables) {
    const { rows } = await client.query(`SELECT t::text FROM "${name}" AS t ORDER BY t::text`)
    contents.push([name, rows])
  }
  await client.end()
  return contents
}

/** Returns the paths of everything below a folder. */
function treeOf(path: string): readonly string[] {
  return readdirSync(path, { recursive: true, encoding: 'utf8' }).toSorted()
}

function migrations(name: string): URL {
  const folder = name === 'sqlite' ? 'prisma/migrations' : 'prisma/postgresql/migrations'
  return new URL(`../../${folder}`, import.meta.url)
}

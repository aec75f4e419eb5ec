import { execFileSync } from 'node:child_process'
import {
  closeSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { databases, onDatabase } from '../support/databases.ts'
import {
  type Folder,
  makeFolder,
  type Program,
  spawnProgram,
  startProgram,
} from '../support/program.ts'
import { rest, restJson } from '../support/rest.ts'
import { acceptedId, post, refusal } from '../support/submit.ts'
import { until } from '../support/until.ts'
import { untilHealth } from '../support/wallet.ts'

/** A gateway whose disk is full, read-only or damaged. */

let folder: Folder
let gateway: Program

beforeEach(async () => {
  folder = makeFolder()
  gateway = await serve()
  await untilHealth(gateway.url)
})
afterEach(async () => {
  await gateway.end('SIGTERM')
  folder.remove()
})

// Operations are slow on a busy machine, which would be logged.
const serve = () => startProgram({ DATABASE_URL: folder.databaseUrl, SLOW_OPERATION_MS: '0' })

const events = () =>
  gateway
    .logged()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

const loudEvents = () => events().filter(({ level }) => level === 'warn' || level === 'error')

describe.runIf(process.platform === 'linux')('a full disk', () => {
  /** Limits the size of every file that the process writes. */
  function limitFiles(bytes: number | 'unlimited'): void {
    const { pid } = gateway.process
    execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`])
  }

  test('causes 503 and one log line while it lasts, and loses no acknowledged block', async () => {
    const acknowledged: string[] = []
    const refusals: (readonly [string | null, number, string])[] = []
    let isOver = false
    const submitters = [1, 2, 3, 4].map(async (who) => {
      for (let n = 0; !isOver; n++) {
        const tag = `0x${(who * 1_000_000 + n).toString(16).padStart(8, '0')}`
        const data = `0x${'ab'.repeat(4_000)}`
        const response = await post(gateway.url, JSON.stringify({ type: 0, tag, data }))
        if (response.status === 201) acknowledged.push(await acceptedId(response))
        else {
          refusals.push(await refusalOf(response))
          await delay(20)
        }
      }
    })

    limitFiles(statSync(`${folder.databaseFile}-wal`).size + 500_000)
    await untilHealth(gateway.url, 503)
    const before = acknowledged.length
    expect(before).toBeGreaterThan(0)
    for (const path of ['/api/core/v3/network/health', '/api/indexer/v2/health']) {
      expect((await rest(gateway.url + path)).status).toBe(503)
    }
    // Reads are served.
    const read = await rest(`${gateway.url}/api/core/v3/blocks/${acknowledged[0]}`)
    expect(read.status).toBe(200)
    const given = new Set(refusals.map((one) => JSON.stringify(one)))
    expect(given).toContain(away)
    // The lease may have expired meanwhile, because it cannot be renewed.
    given.delete(starting)
    expect(given).toEqual(new Set([away]))

    limitFiles('unlimited')
    await untilHealth(gateway.url)
    await until(() => acknowledged.length >= before + 20)
    await until(() => events().some(({ event }) => event === 'database-writable'))
    isOver = true
    await Promise.all(submitters)

    expect(loudEvents().map(({ event, error }) => [event, error.message])).toEqual([
      ['database-not-writable', 'disk I/O error'],
    ])
    await gateway.end('SIGKILL')
    gateway = await serve()
    await untilHealth(gateway.url)
    for (const blockId of acknowledged) {
      const metadata = await restJson(`${gateway.url}/api/core/v3/blocks/${blockId}/metadata`)
      expect(metadata.blockState).toMatch(/accepted|confirmed|finalized/)
    }
  })
})

/** Expects a gateway that has just started to serve reads and to reject blocks. */
async function expectReadOnly(url: string): Promise<void> {
  expect((await rest(`${url}/api/core/v3/commitments/by-slot/1`)).status).toBe(200)
  await untilHealth(url, 503)
  const response = await post(url, JSON.stringify({ type: 0, tag: '0x01', data: '0x' }))
  expect(response.status).toBe(503)
}

describe.runIf(process.platform === 'linux')('a start without room to write', () => {
  test('serves reads, and accepts blocks once there is room', async () => {
    await gateway.end('SIGKILL')
    // Larger than the index of the write-ahead log, smaller than the write-ahead log and the database.
    const limit = ['prlimit', '--fsize=40000:unlimited']
    expect(statSync(`${folder.databaseFile}-wal`).size).toBeGreaterThan(40_000)
    gateway = await startProgram({ DATABASE_URL: folder.databaseUrl }, limit)
    await expectReadOnly(gateway.url)
    expect(loudEvents().map(({ event }) => event)).toEqual(['database-not-writable'])
    execFileSync('prlimit', ['--pid', String(gateway.process.pid), '--fsize=unlimited:unlimited'])
    await untilHealth(gateway.url)
    await acceptedId(await post(gateway.url, JSON.stringify({ type: 0, tag: '0x02', data: '0x' })))
  }, 120_000)

  test.runIf(canMount())(
    'serves reads on a completely full disk',
    async () => {
      const disk = mkdtempSync(join(tmpdir(), 'ledger-gateway-disk-'))
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', disk])
      try {
        const env = { DATABASE_URL: `file:${join(disk, 'test.db')}` }
        const first = await startProgram(env)
        await untilHealth(first.url)
        // A clean exit removes the write-ahead log and its index.
        await first.end('SIGTERM')
        fill(join(disk, 'filling'))
        const second = await startProgram(env)
        await expectReadOnly(second.url)
        rmSync(join(disk, 'filling'))
        await untilHealth(second.url)
        await second.end('SIGTERM')
      } finally {
        execFileSync('umount', [disk])
        rmSync(disk, { recursive: true })
      }
    },
    120_000,
  )

  /** Fills a disk completely. */
  function fill(path: string): void {
    const file = openSync(path, 'w')
    try {
      for (;;) writeSync(file, Buffer.alloc(4_096))
    } catch (failure) {
      expect(failure).toMatchObject({ code: 'ENOSPC' })
    } finally {
      closeSync(file)
    }
  }
})

/** Returns whether this process may mount: only the administrator may, and not in every container. */
function canMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-mount-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', folder], { stdio: 'ignore' })
    execFileSync('umount', [folder])
    return true
  } catch {
    return false
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const role = `reader_${process.pid}`
const denials: readonly (readonly [
  string,
  (name: string) => string,
  (name: string) => string,
  object,
])[] = [
  [
    'on a read-only server',
    (name) => `ALTER DATABASE ${name} SET default_transaction_read_only = on`,
    (name) =>
      `BEGIN READ WRITE; ALTER DATABASE ${name} RESET default_transaction_read_only; COMMIT`,
    {},
  ],
  [
    'with a role that may only read',
    () =>
      `CREATE ROLE ${role} LOGIN PASSWORD 'hush'; GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${role}`,
    () => `DROP OWNED BY ${role}; DROP ROLE ${role}`,
    { username: role, password: 'hush' },
  ],
]

test.each(denials)(
  'a gateway that starts %s serves reads',
  async (_how, deny, allow, user) => {
    const database = await present(
      databases.find(({ name }) => name === 'postgresql'),
      'postgresql',
    ).create()
    const env = { DATABASE_URL: database.url, KEY_FILE: `${folder.databaseFile}.key` }
    const first = await startProgram(env)
    await untilHealth(first.url)
    await first.end('SIGTERM')
    const name = new URL(database.url).pathname.slice(1)
    await onDatabase(database.url, deny(name))
    const { href: DATABASE_URL } = Object.assign(new URL(database.url), user)
    const second = await startProgram({ ...env, DATABASE_URL })
    await expectReadOnly(second.url)
    expect(second.logged()).toContain('"event":"database-not-writable"')
    await second.end('SIGTERM')
    await onDatabase(database.url, allow(name))
    await database.remove()
  },
  120_000,
)

describe('a damaged file', () => {
  /** Overwrites the first page of a table. */
  function damage(table: string): void {
    const database = new DatabaseSync(folder.databaseFile)
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    const size = Number(database.prepare('PRAGMA page_size').get()?.page_size)
    const page = database.prepare('SELECT rootpage FROM sqlite_master WHERE name = ?').get(table)
    const at = (Number(page?.rootpage) - 1) * size
    database.close()
    const file = openSync(folder.databaseFile, 'r+')
    writeSync(file, Buffer.alloc(size, 0xa5), 0, size, at)
    closeSync(file)
  }

  test('that has lost its end is reported with the file and the remedy', async () => {
    await gateway.end('SIGTERM')
    truncateSync(folder.databaseFile, 4096)
    const refused = spawnProgram({ DATABASE_URL: folder.databaseUrl })
    await expect(refused.ready).rejects.toThrow('ended with 1')
    expect(refused.logged()).toContain(
      `the database cannot be used: ${folder.databaseFile}: database disk image is malformed; restore a backup of it\n`,
    )
  })

  test('that prevents the start is reported in one sentence', async () => {
    await gateway.end('SIGTERM')
    damage('network')
    const refused = spawnProgram({ DATABASE_URL: folder.databaseUrl })
    await expect(refused.ready).rejects.toThrow('ended with 1')
    const words = refused.logged().split('\n')
    expect(words.filter((line) => !line.startsWith('{') && line !== '')).toEqual([
      `ledger-gateway serve: the database cannot be used: ${folder.databaseFile}: Database error. Code: \`SQLITE_CORRUPT\`. Message: \`database disk image is malformed\`; restore a backup of it`,
    ])
  })

  test('causes one log line and bad health, and its readable part is served', async () => {
    await gateway.end('SIGTERM')
    damage('blocks')
    gateway = await serve()
    await until(() => loudEvents().length > 0)
    await untilHealth(gateway.url, 503)
    // The writer tries a few more times.
    await delay(2_500)
    expect(loudEvents().map(({ event }) => event)).toEqual(['database-damaged'])
    expect((await rest(`${gateway.url}/api/core/v3/commitments/by-slot/60`)).status).toBe(200)
  })
})

// Without the last one another process would not see the locks of this one.
test.each(['', '-wal', '-shm'])(
  'a database whose file …%s was moved is not written until it is back',
  async (end) => {
    const submit = (n: number) =>
      post(gateway.url, JSON.stringify({ type: 0, tag: `0x0${n}`, data: '0x' }))
    const first = await acceptedId(await submit(1))
    const file = folder.databaseFile + end
    renameSync(file, `${file}.gone`)
    expect(JSON.stringify(await refusalOf(await submit(2)))).toEqual(away)
    await untilHealth(gateway.url, 503)
    renameSync(`${file}.gone`, file)
    await untilHealth(gateway.url)
    const third = await acceptedId(await submit(3))
    await gateway.end('SIGKILL')
    gateway = await serve()
    for (const id of [first, third]) {
      expect((await rest(`${gateway.url}/api/core/v3/blocks/${id}`)).status).toBe(200)
    }
  },
)

async function refusalOf(response: Response) {
  return [response.headers.get('retry-after'), ...(await refusal(response))] as const
}

const starting = JSON.stringify(['1', 503, 'the ledger accepts no blocks now (starting)'])

const away = JSON.stringify([
  '1',
  503,
  'the database is temporarily unreachable, and the request may have been executed; try again',
])

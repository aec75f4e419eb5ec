import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { silentLog } from '../../src/lib/log.ts'
import { databaseOf } from '../../src/store/connect.ts'
import { logStoreFaults } from '../../src/store/fault-log.ts'
import { isStoreAway, storeFaultOf } from '../../src/store/faults.ts'
import {
  databases,
  openedStore,
  type TestDatabase,
  useDatabase,
  useStore,
} from '../support/databases.ts'
import { createMemoryLog } from '../support/memory-log.ts'
import { onServer } from '../support/postgresql-server.ts'
import { incomingBlock, testGenesis } from '../support/store-rows.ts'
import { until } from '../support/until.ts'

const [sqlite, postgresql] = databases

describe('a file of sqlite that may not grow', () => {
  const use = useStore(present(sqlite, 'sqlite').create)

  test('is unavailable for writes, and not reported as a fault of the gateway', async () => {
    const opened = await databaseOf({ url: use.url, wakeUrl: undefined, log: silentLog })
    if (!opened.ok) throw new Error(opened.error.code)
    const { writer, close } = opened.value
    await writer.$queryRawUnsafe('PRAGMA max_page_count = 1')
    const large = 'CREATE TABLE large AS SELECT zeroblob(1000000) AS bytes'
    const failure: unknown = await writer
      .$executeRawUnsafe(large)
      .catch((thrown: unknown) => thrown)
    expect(failure).toMatchObject({ message: expect.stringContaining('disk is full') })
    expect([storeFaultOf(failure), isStoreAway(failure)]).toEqual(['NOT_WRITABLE', true])
    await close()
  })
})

describe('a server of postgresql that is read-only, like a standby', () => {
  const use = useStore(present(postgresql, 'postgresql').create)
  const name = () => new URL(use.url).pathname.slice(1)

  /** Applies to every later connection. */
  async function setReadOnly(value: 'on' | 'off'): Promise<void> {
    const { url } = inject('postgresql')
    await onServer(url, `ALTER DATABASE ${name()} SET default_transaction_read_only = ${value}`)
    const others = `datname = '${name()}' AND pid <> pg_backend_pid()`
    await onServer(url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${others}`)
  }

  afterEach(() => setReadOnly('off'))

  test('is logged once, and once more when it is writable again', async () => {
    await use.store.write.initialize(use.term, testGenesis())
    const { log, events } = createMemoryLog()
    const store = logStoreFaults(use.store, log)
    const reported = () =>
      events()
        .map(({ event }) => event)
        .filter((event) => event.includes('writable'))
    let last = 0
    const write = () => store.write.acceptBlocks([incomingBlock(++last, { slot: 1 })])

    await setReadOnly('on')
    const failures: unknown[] = []
    // The first attempt may use the connection that was ended.
    const fail = () => write().catch((thrown: unknown) => failures.push(thrown))
    await until(async () => (await fail()) !== undefined && failures.length >= 4)
    expect(storeFaultOf(failures.at(-1))).toBe('NOT_WRITABLE')
    expect(await store.read.newestInbox()).toBe(0)
    expect(reported()).toEqual(['database-not-writable'])
    // The check that a process makes each second even if it writes nothing.
    const checked: unknown = await store.write.checkHistory().catch((failure: unknown) => failure)
    expect(storeFaultOf(checked)).toBe('NOT_WRITABLE')

    await setReadOnly('off')
    await until(async () => {
      await write().catch(() => {})
      return reported().length >= 2
    })
    expect(reported()).toEqual(['database-not-writable', 'database-writable'])
    expect(await store.read.newestInbox()).toBeGreaterThan(0)
  })
})

describe('a table of postgresql that an operator locks', () => {
  const use = useStore(present(postgresql, 'postgresql').create)

  test('is logged once while writes fail again and again, and once more when it is free', async () => {
    await use.store.write.initialize(use.term, testGenesis())
    const { log, events } = createMemoryLog()
    const store = logStoreFaults(use.store, log)
    const operator = new Client({ connectionString: use.url })
    await operator.connect()
    await operator.query('BEGIN; LOCK TABLE blocks')
    // Every process reads the tip each second, and the lock does not concern it.
    const reading = setInterval(() => void store.read.logTip(), 100)
    for (let n = 1; n <= 3; n++) {
      const failure: unknown = await store.write
        .acceptBlocks([incomingBlock(n, { slot: 1 })])
        .catch((thrown: unknown) => thrown)
      expect(storeFaultOf(failure)).toBe('AWAY')
      // The writer pauses for so long before it tries again.
      await delay(1_000)
    }
    expect(events().map(({ event }) => event)).toEqual(['database-away'])
    await operator.end()
    await until(() => events().length > 1, { what: 'the end' })
    clearInterval(reading)
    expect(events().map(({ event }) => event)).toEqual(['database-away', 'database-back'])
  })
})

describe('a server of postgresql that ends a statement', () => {
  const use = useStore(present(postgresql, 'postgresql').create)
  const database = useDatabase(use)

  // `transaction_timeout` exists from PostgreSQL 17 on.
  test.each(['statement_timeout', 'transaction_timeout'])('by %s is away', async (timeout) => {
    const failure: unknown = await database.opened.raw
      .transact(async (tx) => {
        const set = `SELECT set_config(name, '10ms', true) AS ms FROM pg_settings WHERE name = '${timeout}'`
        const isKnown = (await tx.$queryRawUnsafe<object[]>(set)).length > 0
        await tx.$queryRawUnsafe(isKnown ? 'SELECT pg_sleep(60)' : 'SELECT')
        return isKnown ? undefined : 'unknown'
      })
      .catch((thrown: unknown) => thrown)
    if (failure !== 'unknown') expect(storeFaultOf(failure)).toBe('AWAY')
  })

  test('that an operator cancels is away', async () => {
    const sleeping = 'SELECT pg_sleep(60) AS until_cancelled'
    const failed = database.opened.query(sleeping, []).catch((thrown: unknown) => thrown)
    const cancel = `SELECT pg_cancel_backend(pid) AS done FROM pg_stat_activity WHERE query = '${sleeping}'`
    await until(async () => (await database.opened.raw.$queryRawUnsafe<[]>(cancel)).length > 0)
    expect(storeFaultOf(await failed)).toBe('AWAY')
  })
})

test.runIf(process.platform === 'linux').each([
  ['name does not resolve', 'x.invalid'],
  ['network has no route', '255.255.255.255'],
  ['Unix socket is gone', encodeURIComponent('/nonexistent')],
])('a server of postgresql whose %s is away', async (_what, host) => {
  const url = `postgresql://nobody:hush@${host}/none`
  const opened = await databaseOf({ url, wakeUrl: undefined, log: silentLog })
  if (!opened.ok) throw new Error(opened.error.code)
  const { query, raw, writer, close } = opened.value
  const reads = [
    () => query('SELECT', []),
    () => raw.$queryRawUnsafe('SELECT'),
    () => writer.network.count(),
  ]
  for (const read of reads) {
    const failure: unknown = await read().catch((thrown: unknown) => thrown)
    expect([storeFaultOf(failure), failure]).toEqual(['AWAY', failure])
  }
  await close()
})

describe('a server of postgresql that refuses connections', () => {
  const role = `refused_${process.pid}`
  let database: TestDatabase
  let name: string
  beforeEach(async () => {
    database = await present(postgresql, 'postgresql').create()
    name = new URL(database.url).pathname.slice(1)
    await onServer(database.url, `CREATE ROLE ${role} LOGIN PASSWORD 'hush'`)
    await onServer(database.url, `GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${role}`)
  })
  afterEach(async () => {
    await onServer(database.url, `DROP OWNED BY ${role}; DROP ROLE ${role}`)
    await database.remove()
  })

  const refusals: readonly (readonly [string, () => string, () => string])[] = [
    ['a role', () => `ALTER ROLE ${role} NOLOGIN`, () => `ALTER ROLE ${role} LOGIN`],
    [
      'a database that has another name',
      () => `ALTER DATABASE ${name} RENAME TO ${name}_away`,
      () => `ALTER DATABASE ${name}_away RENAME TO ${name}`,
    ],
  ]
  test.each(refusals)('to %s is away until it accepts them', async (_what, refuse, accept) => {
    const { url: server } = inject('postgresql')
    const user = { username: role, password: 'hush' }
    const { read, close } = await openedStore(Object.assign(new URL(database.url), user).href)
    await read.network()
    const sessions = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`
    await until(() =>
      onServer(server, `${sessions}; ${refuse()}`).then(
        () => true,
        () => false,
      ),
    )
    const failures: unknown[] = []
    // The first attempt may use the connection that was ended.
    const fail = () => read.network().catch((thrown: unknown) => failures.push(thrown))
    await until(async () => (await fail()) !== undefined && failures.length >= 3)
    expect(storeFaultOf(failures.at(-1))).toBe('AWAY')
    await onServer(server, accept())
    await until(() =>
      read.network().then(
        () => true,
        () => false,
      ),
    )
    await close()
  })
})

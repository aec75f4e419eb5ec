import { EventEmitter, once } from 'node:events'
import { Client } from 'pg'
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest'
import { silentLog } from '../../../src/lib/log.ts'
import { databaseOf } from '../../../src/store/connect.ts'
import type { Store } from '../../../src/store/contract.ts'
import { maxSnapshotMs } from '../../../src/store/database.ts'
import { isStoreAway } from '../../../src/store/faults.ts'
import { openStore } from '../../../src/store/open.ts'
import { openReads } from '../../../src/store/postgresql/reads.ts'
import type { Writing } from '../../../src/store/sql/statements.ts'
import {
  databases,
  emptyDatabases,
  onDatabase,
  openedStore,
  useStore,
} from '../../support/databases.ts'
import { createMemoryLog } from '../../support/memory-log.ts'
import { databaseUrl, onServer } from '../../support/postgresql-server.ts'
import { ask } from '../../support/standby.ts'
import {
  blockIdOf,
  entry,
  incomingBlock,
  slotCommit,
  testGenesis,
} from '../../support/store-rows.ts'
import { until } from '../../support/until.ts'

/** Tests what only PostgreSQL can do or fail at. */

const [postgresql] = databases.filter(({ name }) => name === 'postgresql')
const [empty] = emptyDatabases.filter(({ name }) => name === 'postgresql')
if (postgresql === undefined || empty === undefined) throw new Error('no postgresql to test on')

describe('opening a store on postgresql', () => {
  const changes: readonly (readonly [string, (url: URL) => void, RegExp])[] = [
    ['an unknown database', (url) => Object.assign(url, { pathname: '/none' }), /"none" does not/],
    ['a port without a server', (url) => Object.assign(url, { port: '1' }), /ECONNREFUSED/],
    ['an unknown host', (url) => Object.assign(url, { hostname: 'x.invalid' }), /x\.invalid/],
    ['TLS to a server without TLS', (url) => url.searchParams.set('sslmode', 'verify-full'), /SSL/],
  ]

  test.each(changes)('is refused with a short reason for %s', async (_name, change, expected) => {
    const url = new URL(inject('postgresql').url)
    change(url)
    const store = await openStore({ url: url.href, log: silentLog })
    const reason = expect.stringMatching(expected)
    expect(store).toEqual({ ok: false, error: { code: 'DATABASE_UNUSABLE', reason } })
  })

  // A server that the environment names may accept every password.
  test.runIf(process.env.TEST_DATABASE_URL === undefined)(
    'is refused for a wrong password',
    async () => {
      const url = Object.assign(new URL(inject('postgresql').url), { password: 'hush' })
      const store = await openStore({ url: url.href, log: silentLog })
      const reason = expect.stringMatching(/: password authentication failed for user "gateway"$/)
      expect(store).toEqual({ ok: false, error: { code: 'DATABASE_UNUSABLE', reason } })
    },
  )

  test('is refused for an encoding that lacks characters', async () => {
    const { url } = inject('postgresql')
    const name = 'ledger_gateway_test_encoding'
    const version = Number(await ask(url, 'SHOW server_version_num'))
    const provider = version < 150_000 ? '' : 'LOCALE_PROVIDER libc'
    const options = `ENCODING 'SQL_ASCII' ${provider} LOCALE 'C'`
    await onServer(url, `CREATE DATABASE ${name} TEMPLATE template0 ${options}`)
    const store = await openStore({ url: databaseUrl(url, name), log: silentLog })
    await onServer(url, `DROP DATABASE ${name}`)
    const reason = expect.stringMatching(/: its encoding is SQL_ASCII, and must be UTF8$/)
    expect(store).toEqual({ ok: false, error: { code: 'DATABASE_UNUSABLE', reason } })
  })

  test('by several processes at once creates the tables once', async () => {
    const database = await empty.create()
    const stores = await Promise.all([1, 2, 3, 4].map(() => openedStore(database.url)))
    for (const store of stores) expect(await store.read.network()).toBeUndefined()
    await Promise.all(stores.map((store) => store.close()))
    await database.remove()
  })

  test('creates and reads the tables in the schema of the search_path', async () => {
    const database = await empty.create()
    await onDatabase(database.url, 'CREATE SCHEMA own')
    const store = await openedStore(`${database.url}?options=-csearch_path=own`)
    expect(await store.read.network()).toBeUndefined()
    await store.close()
    expect(await ask(database.url, "SELECT to_regclass('public._prisma_migrations')")).toBe('null')
    await database.remove()
  })

  test('creates the tables also where a backslash in a text is an escape', async () => {
    const database = await empty.create()
    const options = encodeURIComponent('-c standard_conforming_strings=off')
    const store = await openedStore(`${database.url}?options=${options}`)
    expect(await store.read.network()).toBeUndefined()
    await store.close()
    await database.remove()
  })
})

describe('writing to postgresql', () => {
  const use = useStore(postgresql.create)
  let client: Client

  beforeEach(async () => {
    client = new Client({ connectionString: use.url })
    // In some tests the server ends this connection.
    client.on('error', () => {})
    await client.connect()
  })
  afterEach(() => client.end())

  const lockWriter = async () => {
    await client.query('BEGIN')
    await client.query('SELECT * FROM writer FOR UPDATE')
  }

  test('waits two seconds for a lock, and works after the lock is released', async () => {
    await lockWriter()
    const begun = performance.now()
    const failure = await use.store.write.acceptBlocks([incomingBlock(1)]).catch((error) => error)
    expect(performance.now() - begun).toBeGreaterThan(1_900)
    expect(failure.message).toContain('lock timeout')
    expect(isStoreAway(failure)).toBe(true)
    await client.query('ROLLBACK')
    expect(await use.store.write.acceptBlocks([incomingBlock(1)])).toEqual(['ACCEPTED'])
  })

  test('has reads that wait for a lock no longer than ten seconds', async () => {
    const { read, write } = use.store
    await client.query('BEGIN; LOCK TABLE blocks')
    // The first one is on the connection of the writer, outside of a transaction.
    const reads = [write.pendingBlocks(1), read.recentBlocks(1)]
    const failures = await Promise.all(reads.map((one) => one.catch((error: unknown) => error)))
    expect(failures.map(isStoreAway)).toEqual([true, true])
    await client.query('ROLLBACK')
    expect(await Promise.all([write.pendingBlocks(1), read.recentBlocks(1)])).toEqual([[], []])
  })

  test("learns that the lease is held without a wait for the holder's commit", async () => {
    await use.store.write.renewLease(use.term, 0)
    await lockWriter()
    const answer = await use.store.write.takeLease({ holder: 'other', ttlMs: 1_000 })
    expect(answer).toMatchObject({ ok: false, error: { code: 'LEASE_HELD', holder: 'test' } })
  })

  test('loses its locks when it pauses in a transaction, and then changes nothing', async () => {
    const { sql, other } = await secondWriter(use.url)
    const events = new EventEmitter()
    const former = other.transaction(async (tx) => {
      await sql.beginWriting(tx)
      await tx.writer.updateMany({ where: { id: 1n }, data: { holder: 'former' } })
      events.emit('locked')
      await once(events, 'resumed')
      await tx.writer.updateMany({ where: { id: 1n }, data: { holder: 'later' } })
    })
    const failed = former.catch((error) => error)
    await once(events, 'locked')
    const begun = performance.now()
    // Two attempts, because the first may wait for as long as the other may idle.
    const answer = await use.store.write
      .renewLease(use.term, 60_000)
      .catch(() => use.store.write.renewLease(use.term, 60_000))
    expect(answer).toMatchObject({ ok: true })
    expect(performance.now() - begun).toBeLessThan(4_000)
    events.emit('resumed')
    const failure = await failed
    expect(isStoreAway(failure)).toBe(true)
    const { rows } = await client.query('SELECT holder FROM writer')
    expect(rows).toEqual([{ holder: 'test' }])
    await other.close()
  })

  test('accepts blocks while it books, and its lease cannot be taken', async () => {
    const { sql, other } = await secondWriter(use.url)
    const events = new EventEmitter()
    await use.store.write.renewLease(use.term, 0)
    const booking = other.transaction(async (tx) => {
      await sql.beginWriting(tx)
      await sql.lockLease(tx, use.term)
      events.emit('locked')
      await once(events, 'over')
    })
    await once(events, 'locked')
    expect(await use.store.write.acceptBlocks([incomingBlock(1)])).toEqual(['ACCEPTED'])
    const taking = { holder: 'other', ttlMs: 1_000 }
    expect(await use.store.write.takeLease(taking)).toMatchObject({ ok: false })
    events.emit('over')
    await booking
    expect(await use.store.write.takeLease(taking)).toMatchObject({ ok: true })
    await other.close()
  })

  test('loses the lease when it pauses while it books, and then changes nothing', async () => {
    const { sql, other } = await secondWriter(use.url)
    const events = new EventEmitter()
    await use.store.write.renewLease(use.term, 0)
    const former = other.transaction(async (tx) => {
      await sql.beginWriting(tx)
      await sql.lockLease(tx, use.term)
      events.emit('locked')
      await once(events, 'resumed')
      await tx.writer.updateMany({ where: { id: 1n }, data: { holder: 'former' } })
    })
    const failed = former.catch((error) => error)
    await once(events, 'locked')
    const take = () => use.store.write.takeLease({ holder: 'next', ttlMs: 60_000 })
    await until(async () => (await take()).ok)
    events.emit('resumed')
    expect(isStoreAway(await failed)).toBe(true)
    const { rows } = await client.query('SELECT term, holder FROM writer')
    expect(rows).toEqual([{ term: String(use.term + 1), holder: 'next' }])
    await other.close()
  })

  const waits = [
    ['off', 'on'],
    ['local', 'on'],
    ['remote_write', 'on'],
    ['on', 'on'],
    ['remote_apply', 'remote_apply'],
  ] as const
  test.each(waits)(
    'of a session with synchronous_commit = %s uses %s',
    async (session, expected) => {
      const { sql, other } = await secondWriter(
        `${use.url}?options=-csynchronous_commit%3D${session}`,
      )
      let found: unknown
      await other.transaction(async (tx) => {
        await sql.beginWriting(tx)
        found = await tx.$queryRawUnsafe('SHOW synchronous_commit')
      })
      expect(found).toEqual([{ synchronous_commit: expected }])
      await other.close()
    },
  )

  test.each(['beginWriting', 'beginWritingAfter'] as const)(
    'has no timeout of the role or the database for statements and transactions (%s)',
    async (begin) => {
      const { sql, other } = await secondWriter(use.url)
      const timeouts = "FROM pg_settings WHERE name IN ('statement_timeout', 'transaction_timeout')"
      const found = new Set<unknown>()
      await other.transaction(async (tx) => {
        await tx.$queryRawUnsafe(`SELECT set_config(name, '1min', true) ${timeouts}`)
        await sql[begin](tx, 0)
        const rows = await tx.$queryRawUnsafe<{ setting: string }[]>(`SELECT setting ${timeouts}`)
        for (const { setting } of rows) found.add(setting)
      })
      expect([...found]).toEqual(['0'])
      await other.close()
    },
  )

  test('leaves no setting behind in the session, because a pooler may lend it to others', async () => {
    const { sql, other } = await secondWriter(use.url)
    await other.transaction((tx) => sql.beginWriting(tx))
    const name = 'idle_in_transaction_session_timeout'
    expect(await other.query(`SHOW ${name}`)).toEqual([{ [name]: '0' }])
    await other.close()
  })

  test('ends the statement of a snapshot on the server when the snapshot expires', async () => {
    const reads = openReads({ connectionString: use.url })
    const snapshot = reads.snapshotConnection()
    await snapshot.begin()
    const limit = "SELECT current_setting('statement_timeout')"
    expect(await snapshot.query(limit, [])).toEqual([[`${maxSnapshotMs / 1_000}s`]])
    await snapshot.end()
    expect(await reads.query(limit, [])).toEqual([['0']])
    await reads.close()
  })

  test('reads a page in one process and without JIT compilation', async () => {
    const reads = openReads({ connectionString: use.url })
    const snapshot = reads.snapshotConnection()
    await snapshot.begin()
    const settings =
      "SELECT current_setting('max_parallel_workers_per_gather'), current_setting('jit')"
    for (const query of [reads.query, snapshot.query]) {
      expect(await query(settings, [])).toEqual([['0', 'off']])
    }
    await snapshot.end()
    await reads.close()
  })

  test.each(['hex', 'escape'])('reads bytes that the server sends as %s', async (format) => {
    const url = `${use.url}?options=-cbytea_output%3D${format}`
    const opened = await databaseOf({ url, wakeUrl: undefined, log: silentLog })
    if (!opened.ok) throw new Error(opened.error.code)
    const { query, raw, close } = opened.value
    const bytes = Uint8Array.of(0x00, 0x41, 0x5c, 0x27, 0xff)
    const text = "SELECT decode('00415c27ff', 'hex') AS bytes"
    // The server describes the columns of a statement only the first time.
    for (let n = 0; n < 2; n++) expect(await query(text, [])).toEqual([[bytes]])
    expect(await raw.$queryRawUnsafe(text)).toEqual([{ bytes }])
    await close()
  })

  test('continues after its connections are lost', async () => {
    await use.store.write.initialize(use.term, testGenesis())
    const others = 'datname = current_database() AND pid <> pg_backend_pid()'
    for (let n = 1; n <= 5; n++) {
      const accept = () => use.store.write.acceptBlocks([incomingBlock(n)])
      const accepted = retried(accept)
      await client.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${others}`)
      expect(['ACCEPTED', 'KNOWN']).toContain((await accepted)[0])
      expect(await retried(accept)).toEqual(['KNOWN'])
      expect(await retried(() => use.store.read.block(blockIdOf(n)))).toBeDefined()
    }
  })

  test('by several processes keeps one newest version of a chain record', async () => {
    const stores = await Promise.all([1, 2, 3].map(() => openedStore(use.url)))
    const record = { chainId: 'chain', accessNodes: [], isActive: true, setBy: 'me', setAt: 1 }
    const set = stores.flatMap((store) => [1, 2, 3].map(() => store.write.setChainRecord(record)))
    const versions = (await Promise.all(set)).map(({ version }) => version)
    expect(versions.toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
    const page = { order: 'ascending', limit: 10 } as const
    expect(await use.store.read.chainRecords({ above: [''], below: ['z'] }, page)).toHaveLength(1)
    await Promise.all(stores.map((store) => store.close()))
  })
})

describe('notifications of commits on postgresql', () => {
  const use = useStore(postgresql.create)
  let other: Store

  beforeEach(async () => {
    other = await openedStore(use.url)
    await use.store.write.initialize(use.term, testGenesis())
    await use.store.write.closeSlots(use.term, 100)
  })
  afterEach(() => other.close())

  test('come from another process, with the newest position, once it can be read', async () => {
    const positions = collectPositions(other)
    await positions.of(1)
    await use.store.write.commitSlots(use.term, [slotCommit(1, [entry(1, 1), entry(1, 2)])])
    await positions.of(3)
    expect((await other.read.logTip()).seq).toBe(3)
    await positions.close()
  })

  test('without a position are ignored', async () => {
    const positions = collectPositions(other)
    await positions.of(1)
    await onServer(use.url, "NOTIFY ledger_gateway_growth, 'far'; NOTIFY ledger_gateway_growth")
    await use.store.write.commitSlots(use.term, [slotCommit(1, [entry(1, 1)])])
    await positions.of(2)
    expect(positions.all()).toEqual([1, 2])
    await positions.close()
  })

  test('resume after a lost connection with the missed position, and the loss is logged', async () => {
    const { log, names, events } = createMemoryLog()
    await other.close()
    other = await openedStore(use.url, log)
    const positions = collectPositions(other)
    await positions.of(1)
    expect(events()).toEqual([])
    const client = new Client({ connectionString: use.url })
    await client.connect()
    const wakeConnections =
      "application_name = 'ledger-gateway wake' AND datname = current_database()"
    await client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${wakeConnections}`,
    )
    await client.end()
    await use.store.write.commitSlots(use.term, [slotCommit(1, [entry(1, 1)])])
    await positions.of(2)
    await positions.close()
    expect(names('wake-up-lost', 'wake-up-back')).toEqual(['wake-up-lost', 'wake-up-back'])
    const reason = 'terminating connection due to administrator command'
    expect(events()[0]).toMatchObject({ level: 'warn', reason })
    expect(events()).toHaveLength(2)
  })

  test('end with the store', async () => {
    const positions = collectPositions(use.store)
    await positions.of(1)
    await use.store.close()
    const { url } = inject('postgresql')
    const client = new Client({ connectionString: url })
    await client.connect()
    const name = new URL(use.url).pathname.slice(1)
    const { rows } = await client.query(
      "SELECT 1 FROM pg_stat_activity WHERE datname = $1 AND application_name LIKE '%wake'",
      [name],
    )
    expect(rows).toEqual([])
    await client.end()
  })
})

/** Opens the writing side of another process on a database, without the store's queue around it. */
async function secondWriter(url: string) {
  const database = await databaseOf({ url, wakeUrl: undefined, log: silentLog })
  if (!database.ok) throw new Error(database.error.code)
  const { writer, statements, close } = database.value
  const transaction = (work: (tx: Writing['tx']) => Promise<void>) =>
    writer.$transaction(work, { timeout: 60_000 })
  const query = (sql: string) => writer.$queryRawUnsafe(sql)
  return { sql: statements, other: { transaction, query, close } }
}

/** Repeats the work for as long as the database is unavailable. */
async function retried<T>(work: () => Promise<T>): Promise<T> {
  const outcome = await until(async () => {
    try {
      return { value: await work() }
    } catch (failure) {
      if (!isStoreAway(failure)) throw failure
      return undefined
    }
  })
  return outcome.value
}

/** Collects the log positions of which a store is notified. */
function collectPositions(store: Store) {
  const events = new EventEmitter()
  const all: number[] = []
  let newest = 0
  const listening = store.listen((news) => {
    if (news.topic !== 'LOG_GREW') return
    all.push(news.seq)
    newest = Math.max(newest, news.seq)
    events.emit('heard')
  })
  return {
    of: async (seq: number) => {
      while (newest < seq) await once(events, 'heard')
    },
    all: () => all,
    close: listening.close,
  }
}

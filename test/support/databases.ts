import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, inject } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { type Log, silentLog } from '../../src/lib/log.ts'
import { databaseOf } from '../../src/store/connect.ts'
import type { Store } from '../../src/store/contract.ts'
import type { Database } from '../../src/store/database.ts'
import { openStore } from '../../src/store/open.ts'
import {
  citusUrl,
  createInShards,
  distributedFromGenesis,
  isInShards,
  republishedShards,
} from './citus.ts'
import { databaseUrl, onServer, tableNames } from './postgresql-server.ts'
import { statementsToPublish } from './published-tip.ts'
import { until } from './until.ts'

/** The databases that every contract test runs on. */

/** A database for one test. */
export interface TestDatabase {
  readonly url: string
  remove(): Promise<void>
}

/** A kind of database, with the function that creates one. */
export interface DatabaseKind {
  readonly name: 'sqlite' | 'postgresql' | 'citus'
  /** The positions per partition, if the log of a `LogStore` on the database is partitioned from its start. */
  readonly partitionRows?: number
  create(): Promise<TestDatabase>
}

/** Each kind of database, with tables and without rows. */
export const databases: readonly DatabaseKind[] = [
  { name: 'sqlite', create: createSqlite },
  {
    name: 'postgresql',
    create: () => {
      const { template, tables } = inject('postgresql')
      return createPostgresql({ template, reset: withoutRows, tables })
    },
  },
  ...(citusUrl === undefined ? [] : [{ name: 'citus', create: createInShards } as const]),
]

/** The database of the tests that run on one database only: SQLite, or the kind that `TEST_DATABASE` names. */
export function defaultDatabase(): DatabaseKind {
  const name = process.env.TEST_DATABASE ?? 'sqlite'
  return name === 'partitioned' ? partitionedDatabase(20) : databaseNamed(name)
}

/** PostgreSQL with logs in partitions of `partitionRows` positions. */
export function partitionedDatabase(partitionRows: number): DatabaseKind {
  return { ...databaseNamed('postgresql'), partitionRows }
}

function databaseNamed(name: string): DatabaseKind {
  return present(
    databases.find((kind) => kind.name === name),
    `database ${name}`,
  )
}

/** Runs a statement on a database without the store. */
export async function onDatabase(url: string, sql: string): Promise<void> {
  if (!url.startsWith('file:')) return onServer(url, sql)
  const database = new DatabaseSync(url.slice('file:'.length))
  // A gateway in this process needs turns of the event loop to end its transaction.
  await until(() => isDone(database, sql), { what: 'the database is not locked' })
  database.close()
}

function isDone(database: DatabaseSync, sql: string): boolean {
  try {
    database.exec(sql)
    return true
  } catch (failure) {
    if (failure instanceof Error && failure.message === 'database is locked') return false
    throw failure
  }
}

/** Publishes the log in its current state after a test changed it without the store. */
export async function republish(url: string): Promise<void> {
  const kind = url.startsWith('file:') ? 'sqlite' : 'postgresql'
  const ofShards = isInShards(url) ? republishedShards : []
  await onDatabase(url, [...statementsToPublish(kind), ...ofShards].join(';'))
}

/** Each kind of database, without tables. */
export const emptyDatabases: readonly DatabaseKind[] = [
  { name: 'sqlite', create: createSqlite },
  {
    name: 'postgresql',
    create: () => createPostgresql({ template: 'template0', reset: withoutTables, tables: '' }),
  },
]

async function createSqlite(): Promise<TestDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-store-'))
  return {
    url: `file:${join(folder, 'test.db')}`,
    remove: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** The database to copy, the statements that empty a copy, and the names of the tables that an emptied copy has. */
interface Copies {
  readonly template: string
  readonly reset: string
  readonly tables: string
}

/** Returns a copy of another database. Copying is slow, so the function first reuses the emptied copies of earlier tests. */
async function createPostgresql({ template, reset, tables }: Copies): Promise<TestDatabase> {
  const { url, prefix } = inject('postgresql')
  const emptied = emptiedByTemplate.get(template) ?? []
  emptiedByTemplate.set(template, emptied)
  const name = emptied.pop() ?? `${prefix}_${randomBytes(8).toString('hex')}`
  const own = databaseUrl(url, name)
  if (!made.has(name)) await onServer(url, `CREATE DATABASE ${name} TEMPLATE ${template}`)
  made.add(name)
  return {
    url: own,
    remove: async () => {
      await onServer(own, reset)
      // Some tests change their tables on purpose.
      if ((await tableNames(own)) === tables) emptied.push(name)
    },
  }
}

/** The copies that this worker has made. `postgresql-setup.ts` drops them after all tests. */
const made = new Set<string>()
const emptiedByTemplate = new Map<string, string[]>()

const withoutTables = 'DROP SCHEMA public CASCADE; CREATE SCHEMA public'

/**
 * Truncates the tables whose files have pages. DELETE would leave the pages: if the database vacuums them while the next test writes,
 * it takes each table for one row, and then scans a whole index for each row of a join (11,000 outputs: more than 30 s).
 */
const withoutRows = `DO $$ DECLARE name regclass; BEGIN
  FOR name IN SELECT oid FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
      AND relname <> '_prisma_migrations' AND pg_relation_size(oid) > 0
  LOOP EXECUTE format('TRUNCATE %s', name); END LOOP;
END $$`

/** Opens a store; an error fails the test. */
export async function openedStore(url: string, log: Log = silentLog): Promise<Store> {
  const store = await openStore({ url, log })
  if (!store.ok) throw new Error(`the store did not open: ${JSON.stringify(store.error)}`)
  return isInShards(url) ? distributedFromGenesis(url, store.value) : store.value
}

/** Takes the lease for a minute and returns its term; an error fails the test. */
export async function takenLease(store: Store): Promise<number> {
  const lease = await store.write.takeLease({ holder: 'test', ttlMs: 60_000 })
  if (!lease.ok) throw new Error(`the lease is held by ${lease.error.holder}`)
  return lease.value.term
}

/** The store of the running test. */
export interface StoreInUse {
  readonly url: string
  readonly store: Store
  readonly term: number
}

/** Before every test of a block, creates a database, opens a store on it and takes the lease. */
export function useStore(create: () => Promise<TestDatabase>): StoreInUse {
  let database: TestDatabase
  let store: Store
  let term: number
  beforeEach(async () => {
    database = await create()
    store = await openedStore(database.url)
    term = await takenLease(store)
  })
  afterEach(async () => {
    await store.close()
    await database.remove()
  })
  return {
    get url() {
      return database.url
    },
    get store() {
      return store
    },
    get term() {
      return term
    },
  }
}

/** Opens the layer below the store on the database of the running test. */
export function useDatabase(use: Pick<StoreInUse, 'url'>): { readonly opened: Database } {
  let opened: Database
  beforeEach(async () => {
    const result = await databaseOf({ url: use.url, wakeUrl: undefined, log: silentLog })
    if (!result.ok) throw new Error(result.error.code)
    opened = result.value
  })
  afterEach(() => opened.close())
  return {
    get opened() {
      return opened
    },
  }
}

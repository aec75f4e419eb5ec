import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { silentLog } from '../../src/lib/log.ts'
import type { Result } from '../../src/lib/result.ts'
import type {
  DistributedLog,
  DistributeError,
  DistributeOptions,
} from '../../src/store/contract/distribute.ts'
import type { Store } from '../../src/store/contract.ts'
import { openDatabase } from '../../src/store/open.ts'
import { distributeLog } from '../../src/store/partitions/distribute-log.ts'
import type { TestDatabase } from './databases.ts'
import { databaseUrl, onServer } from './postgresql-server.ts'

/** Databases on the coordinator of Citus that `TEST_CITUS_URL` names. */

/** The URL of a database on the coordinator that lists the workers; `undefined` without Citus. */
export const citusUrl = process.env.TEST_CITUS_URL

/** Creates a database on the coordinator and on each worker. The coordinator reaches the workers by `ports`, if given. */
export async function createOnCitus(
  coordinator = citusUrl ?? '',
  ports: readonly number[] = [],
): Promise<TestDatabase> {
  const name = `ledger_gateway_test_${randomBytes(8).toString('hex')}`
  const workers = await workersOf(coordinator)
  const all = [coordinator, ...workers]
  await Promise.all(
    all.map(async (server) => {
      const alone = 'SET citus.enable_create_database_propagation = off'
      await inTurn(server, [alone, `CREATE DATABASE ${name}`])
      await onServer(databaseUrl(server, name), 'CREATE EXTENSION citus')
    }),
  )
  const url = databaseUrl(coordinator, name)
  // Adds workers one after the other, because each addition writes the roles of the whole worker.
  const adding = new Client(coordinator)
  await adding.connect()
  await adding.query('SELECT pg_advisory_lock(1)')
  await inTurn(url, [
    nodeText('citus_set_coordinator_host', url),
    ...workers.map((worker, i) => nodeText('citus_add_node', worker, ports[i])),
  ]).finally(() => adding.end())
  const remove = async () => {
    await Promise.all(
      all.map((server) => onServer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)),
    )
  }
  return { url, remove }
}

/** Creates a database whose log `openedStore` distributes at genesis. */
export async function createInShards(): Promise<TestDatabase> {
  const { url, remove } = await createOnCitus()
  inShards.add(url)
  return { url, remove }
}

const inShards = new Set<string>()

/** Whether `createInShards` created the database. */
export function isInShards(url: string): boolean {
  return inShards.has(url)
}

/** Distributes the log of a database as the command does, without its open store. */
export async function distribute(
  url: string,
  options: Partial<DistributeOptions> = {},
): Promise<Result<DistributedLog, DistributeError>> {
  const database = await openDatabase({ url, log: silentLog, schema: 'UNCHANGED' })
  if (!database.ok) throw new Error(database.error.code)
  const { signal } = new AbortController()
  const settings = { shards: 4, signal, knownMs: 0, onWaiting: () => {}, ...options }
  return distributeLog(database.value, settings).finally(database.value.close)
}

/** Distributes the log, and fails unless that succeeds. The writing process keeps the lease and its term. */
export async function distributed(url: string, store: Store): Promise<void> {
  const done = await distribute(url)
  if (!done.ok) throw new Error(`${done.error.code} ${JSON.stringify(done.error)}`)
  await onServer(url, 'UPDATE writer SET term = term - 2, until = 0')
  const lease = await store.write.takeLease({ holder: 'test', ttlMs: 3_600_000 })
  if (!lease.ok) throw new Error(lease.error.code)
}

/** A store that distributes its log right after the genesis is written. */
export function distributedFromGenesis(url: string, store: Store): Store {
  const initialize: Store['write']['initialize'] = async (...genesis) => {
    const done = await store.write.initialize(...genesis)
    if (done.ok) await distributed(url, store)
    return done
  }
  return { ...store, write: { ...store.write, initialize } }
}

/** Statements that restore the tables of a distributed log after a test changed log rows without the store. */
export const republishedShards = [
  'UPDATE published_tip SET "isApart" = true',
  'UPDATE log_shards SET seq = (SELECT seq FROM published_tip)',
  'DELETE FROM log_tips',
  `INSERT INTO log_tips SELECT DISTINCT ON (address, class) * FROM (
    SELECT address, class, ordinal, "historyHash", "milestoneIndex" FROM ledger_updates
    UNION ALL SELECT address, class, ordinal, "historyHash", "milestoneIndex" FROM pruned_tips
  ) AS rows ORDER BY address, class, ordinal DESC`,
]

/** The workers of a coordinator. */
export async function workersOf(coordinator: string): Promise<string[]> {
  const client = new Client(coordinator)
  await client.connect()
  const { rows } = await client.query<{ nodename: string; nodeport: number }>(
    'SELECT nodename, nodeport FROM pg_dist_node WHERE groupid > 0 ORDER BY nodeid',
  )
  await client.end()
  return rows.map(
    ({ nodename, nodeport }) =>
      Object.assign(new URL(coordinator), { hostname: nodename, port: `${nodeport}` }).href,
  )
}

function nodeText(name: string, url: string, port = Number(new URL(url).port)): string {
  return `SELECT ${name}('${new URL(url).hostname}', ${port})`
}

async function inTurn(url: string, texts: readonly string[]): Promise<void> {
  const client = new Client(url)
  await client.connect()
  try {
    for (const text of texts) await client.query(text)
  } finally {
    await client.end()
  }
}

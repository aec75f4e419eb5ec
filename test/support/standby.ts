import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { cp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { freePort } from './postgresql-server.ts'
import { until } from './until.ts'

/** Starts a PostgreSQL standby from a copy of the primary's files, because the test binaries contain no `pg_basebackup`. */

/** A server that is read-only until it is promoted. */
export interface Standby {
  readonly url: string
  /** Promotes the standby, and waits until it is a primary. */
  promote(): Promise<void>
  /** Ends the server as a crash does; committed data stays in its files. */
  crash(): Promise<void>
  stop(): Promise<void>
}

/** The options of a standby. */
export interface StandbyOptions {
  /** A port of this machine through which the standby reaches the primary; the primary's port by default. */
  readonly through?: number
  /** The name by which the primary knows it, for `synchronous_standby_names`. */
  readonly name?: string
  readonly settings?: readonly string[]
}

/** Copies the files of a running server on this machine and starts its standby. Linux only. */
export async function startStandby(
  primaryUrl: string,
  {
    through = Number(new URL(primaryUrl).port),
    name = 'standby',
    settings = [],
  }: StandbyOptions = {},
): Promise<Standby> {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-standby-'))
  const target = join(folder, 'data')
  const source = await copyFiles(primaryUrl, target)
  const { uid, gid } = statSync(source)
  writeFileSync(join(target, 'standby.signal'), '')
  // A promoted standby has no standby whose confirmation its commits need.
  writeFileSync(join(target, 'postgresql.auto.conf'), '')
  giveTo(folder, { uid, gid })
  const [pid = ''] = readFileSync(join(source, 'postmaster.pid'), 'utf8').split('\n')
  const own = new URL(primaryUrl)
  own.port = `${await freePort()}`
  const all = [...settingsOf(primaryUrl, { port: own.port, through, name }), ...settings]
  const server = spawn(
    readlinkSync(`/proc/${pid}/exe`),
    ['-D', target, ...all.flatMap((setting) => ['-c', setting])],
    { uid, gid, stdio: 'ignore' },
  )
  await untilAnswers(own.href, server)

  async function end(signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
    if (server.exitCode !== null || server.signalCode !== null) return
    const ended = once(server, 'exit')
    server.kill(signal)
    await ended
  }

  return {
    url: own.href,
    promote: () => promoteServer(own.href),
    crash: () => end('SIGQUIT'),
    stop: async () => {
      await end('SIGINT')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Copies the files while the server writes, and returns their folder. Retries if a file disappears during the copy. */
async function copyFiles(url: string, target: string): Promise<string> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const source = await answerTo(client, 'SHOW data_directory')
    const isOld = Number(await answerTo(client, 'SHOW server_version_num')) < 150_000
    await client.query(
      isOld
        ? "SELECT pg_start_backup('standby', true, false)"
        : "SELECT pg_backup_start('standby', true)",
    )
    for (let attempt = 1; ; attempt++) {
      try {
        const filter = (path: string) => !/postmaster\.(pid|opts)$|pgsql_tmp/.test(path)
        await cp(source, target, { recursive: true, filter })
        break
      } catch (failure) {
        if (attempt === 5) throw failure
        rmSync(target, { recursive: true, force: true })
      }
    }
    const label = await answerTo(
      client,
      `SELECT labelfile FROM ${isOld ? 'pg_stop_backup(false, false)' : 'pg_backup_stop(false)'}`,
    )
    writeFileSync(join(target, 'backup_label'), label)
    return source
  } finally {
    await client.end()
  }
}

function settingsOf(
  primaryUrl: string,
  { port, through, name }: { port: string; through: number; name: string },
): string[] {
  const { hostname, username, password } = new URL(primaryUrl)
  return [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'hot_standby=on',
    `primary_conninfo=host=${hostname} port=${through} user=${username} password=${password} application_name=${name}`,
  ]
}

/** Changes the owner of the files, because the server does not run as root. */
function giveTo(
  folder: string,
  { uid, gid }: { readonly uid: number; readonly gid: number },
): void {
  const files = join(folder, 'data')
  chmodSync(folder, 0o711)
  chmodSync(files, 0o700)
  if (process.getuid?.() !== 0) return
  const inside = readdirSync(files, { recursive: true, encoding: 'utf8' })
  for (const path of [files, ...inside.map((name) => join(files, name))]) chownSync(path, uid, gid)
}

async function untilAnswers(url: string, server: ChildProcess): Promise<void> {
  for (;;) {
    if (server.exitCode !== null) throw new Error(`the standby ended with ${server.exitCode}`)
    try {
      await ask(url, 'SELECT 1')
      return
    } catch {
      // The server does not accept connections yet.
      await delay(50)
    }
  }
}

/** Promotes a standby, and waits until it is a primary. */
async function promoteServer(url: string): Promise<void> {
  const isPrimary = async () => {
    if ((await ask(url, 'SELECT pg_is_in_recovery()')) === 'false') return true
    await ask(url, 'SELECT pg_promote(false)')
    return false
  }
  // The recovery of a standby cancels queries that conflict with it, even `pg_promote` while it waits.
  await until(() => isPrimary().catch(() => false), { what: 'the standby is a primary' })
}

/** Sets the standby whose confirmation commits need: `*` is any standby; a name that no standby has acts as an absent standby. */
export async function setSynchronousStandbys(primaryUrl: string, names: string): Promise<void> {
  await ask(primaryUrl, `ALTER SYSTEM SET synchronous_standby_names = '${names}'`)
  await ask(primaryUrl, 'SELECT pg_reload_conf()')
  await until(async () => (await ask(primaryUrl, 'SHOW synchronous_standby_names')) === names)
}

/** Makes the commits of a primary wait for its standby, and waits until the setting is in effect. */
export async function waitForStandby(url: string): Promise<void> {
  await ask(url, "ALTER SYSTEM SET synchronous_standby_names = 'standby'")
  await ask(url, 'SELECT pg_reload_conf()')
  const state = "SELECT sync_state FROM pg_stat_replication WHERE application_name = 'standby'"
  while ((await ask(url, state)) !== 'sync') await delay(50)
}

/** Runs a statement on its own connection, and returns the first value of the result. */
export async function ask(url: string, sql: string): Promise<string> {
  const client = new Client({ connectionString: url })
  client.on('error', () => {})
  try {
    await client.connect()
    return await answerTo(client, sql)
  } finally {
    await client.end().catch(() => {})
  }
}

async function answerTo(client: Client, sql: string): Promise<string> {
  const { rows } = await client.query<string[]>({ text: sql, rowMode: 'array' })
  return String(rows[0]?.[0])
}

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { freePort } from '../../support/postgresql-server.ts'

/** A second PostgreSQL that follows one, made of a copy of its files: the binaries of the tests have no `pg_basebackup`. */

/** A server that can only be read. */
export interface Standby {
  readonly url: string
  stop(): Promise<void>
}

/** Copies the files of a running server on this machine and starts what follows it. Linux only. */
export async function startStandby(primaryUrl: string): Promise<Standby> {
  const client = new Client({ connectionString: primaryUrl })
  await client.connect()
  const source = await answerTo(client, 'SHOW data_directory')
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-standby-'))
  const target = join(folder, 'data')
  const { uid, gid } = statSync(source)
  await client.query("SELECT pg_backup_start('standby', true)")
  cpSync(source, target, { recursive: true, filter: (path) => !path.endsWith('postmaster.pid') })
  const label = await answerTo(client, 'SELECT labelfile FROM pg_backup_stop(false)')
  await client.end()
  writeFileSync(join(target, 'backup_label'), label)
  writeFileSync(join(target, 'standby.signal'), '')
  giveTo(folder, { uid, gid })
  const [pid = ''] = readFileSync(join(source, 'postmaster.pid'), 'utf8').split('\n')
  const own = new URL(primaryUrl)
  own.port = `${await freePort()}`
  const server = spawn(
    readlinkSync(`/proc/${pid}/exe`),
    ['-D', target, ...settingsOf(primaryUrl, own.port).flatMap((setting) => ['-c', setting])],
    { uid, gid, stdio: 'ignore' },
  )
  await untilAnswers(own.href, server)
  return {
    url: own.href,
    stop: async () => {
      const ended = once(server, 'exit')
      server.kill('SIGINT')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function settingsOf(primaryUrl: string, port: string): string[] {
  const { hostname, port: primaryPort, username, password } = new URL(primaryUrl)
  return [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'hot_standby=on',
    `primary_conninfo=host=${hostname} port=${primaryPort} user=${username} password=${password}`,
  ]
}

/** The server is another user than root. */
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
    const client = new Client({ connectionString: url })
    try {
      await client.connect()
      return
    } catch {
      // It is not there yet.
      await delay(50)
    } finally {
      await client.end().catch(() => {})
    }
  }
}

async function answerTo(client: Client, sql: string): Promise<string> {
  const { rows } = await client.query<string[]>({ text: sql, rowMode: 'array' })
  return String(rows[0]?.[0])
}

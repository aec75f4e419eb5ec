import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { Client } from 'pg'
import { present } from '../../../src/lib/assert.ts'
import { citusUrl, createOnCitus, workersOf } from '../../support/citus.ts'
import { databaseUrl, onServer } from '../../support/postgresql-server.ts'
import { until } from '../../support/until.ts'
import { type HoldingProxy, openHoldingProxy } from './holding-proxy.ts'

/** A database on the servers of `TEST_CITUS_URL`, which run on this machine, and die when the test says so. */
export interface CitusServers {
  readonly url: string
  /** Dies as a machine does that loses its power. */
  killCoordinator(): Promise<void>
  startCoordinator(): Promise<void>
  readonly workers: readonly CitusWorker[]
  stop(): Promise<void>
}

/** A worker, to which the coordinator comes through a proxy. */
export interface CitusWorker {
  readonly proxy: HoldingProxy
  kill(): Promise<void>
  start(): Promise<void>
  /** How many transactions of the database it has prepared that are neither committed nor rolled back. */
  prepared(): Promise<number>
}

/** Makes the database, and the proxies. */
export async function openCitusServers(): Promise<CitusServers> {
  const coordinator = present(citusUrl, 'TEST_CITUS_URL')
  const servers = await workersOf(coordinator)
  const proxies = await Promise.all(servers.map((url) => openHoldingProxy(portOf(url))))
  const ports = proxies.map(({ port }) => port)
  const { url, remove } = await createOnCitus(coordinator, ports)
  const name = new URL(url).pathname.slice(1)
  const own = await processOf(coordinator)
  const workers = await Promise.all(
    servers.map(async (server, i) => {
      const process = await processOf(server)
      const proxy = present(proxies[i], 'a proxy')
      const prepared = () => countPrepared(databaseUrl(server, name))
      return { proxy, kill: process.kill, start: process.start, prepared }
    }),
  )
  return {
    url,
    killCoordinator: own.kill,
    startCoordinator: own.start,
    workers,
    stop: async () => {
      for (const { start } of [own, ...workers]) await start()
      await onServer(url, 'SELECT recover_prepared_transactions()')
      await remove()
      for (const proxy of proxies) await proxy.close()
    },
  }
}

async function countPrepared(url: string): Promise<number> {
  const text =
    'SELECT count(*)::int AS n FROM pg_prepared_xacts WHERE database = current_database()'
  const { n } = await answerTo(url, text)
  return Number(n)
}

interface ServerProcess {
  kill(): Promise<void>
  start(): Promise<void>
}

/** The server of a URL as a process of this machine. */
async function processOf(url: string): Promise<ServerProcess> {
  const { data_directory: folder } = await answerTo(url, 'SHOW data_directory')
  const lines = () => readFileSync(`${folder}/postmaster.pid`, 'utf8').split('\n')
  const first = Number(lines()[0])
  const program = readlinkSync(`/proc/${first}/exe`)
  const words = readFileSync(`/proc/${first}/cmdline`, 'utf8').split('\0').slice(1, -1)
  const { uid, gid } = statSync(String(folder))

  async function kill(): Promise<void> {
    const pid = Number(lines()[0])
    const all = [pid, ...childrenOf(pid)]
    for (const one of all) signal(one)
    await until(() => !all.some(isRunning), { what: 'the server is gone', deadlineMs: 30_000 })
  }

  const answers = async () =>
    (await answerTo(url, 'SELECT 1 AS one').catch(() => undefined)) !== undefined

  async function start(): Promise<void> {
    let server: ChildProcess | undefined
    const isBack = async () => {
      if (await answers()) return true
      // The memory that a crashed server shared with its processes goes with the last of them.
      if (server === undefined || server.exitCode !== null) {
        server = spawn(program, words, { uid, gid, cwd: '/', stdio: 'ignore', detached: true })
        server.unref()
      }
      return false
    }
    await until(isBack, { what: `the server of ${folder} answers`, deadlineMs: 60_000 })
  }

  return { kill, start }
}

function childrenOf(pid: number): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^[0-9]+$/.test(name)) return []
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      return Number(stat.slice(stat.lastIndexOf(')')).split(' ')[2]) === pid ? [Number(name)] : []
    } catch {
      // It has ended meanwhile.
      return []
    }
  })
}

function signal(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}

/** What has ended and is not yet asked for by its parent runs no more. */
function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')')).split(' ')[1] !== 'Z'
  } catch {
    return false
  }
}

async function answerTo(url: string, text: string): Promise<{ readonly [name: string]: unknown }> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
  // It may be lost at any time.
  client.on('error', () => {})
  await client.connect()
  try {
    const { rows } = await client.query(text)
    return present(rows[0], 'an answer')
  } finally {
    await client.end().catch(() => {})
  }
}

function portOf(url: string): number {
  return Number(new URL(url).port)
}

import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { Client } from 'pg'
import { present } from '../../../src/lib/assert.ts'
import { citusUrl, createOnCitus, workersOf } from '../../support/citus.ts'
import { databaseUrl, onServer } from '../../support/postgresql-server.ts'
import { until } from '../../support/until.ts'
import { type HoldingProxy, openHoldingProxy } from './holding-proxy.ts'

/** A database on the servers of `TEST_CITUS_URL`, which run on this machine and can be killed. */
export interface CitusServers {
  readonly url: string
  /** Kills all its processes at once, as a loss of power does. */
  killCoordinator(): Promise<void>
  startCoordinator(): Promise<void>
  readonly workers: readonly CitusWorker[]
  stop(): Promise<void>
}

/** A worker. The coordinator connects to it through a proxy. */
export interface CitusWorker {
  readonly proxy: HoldingProxy
  kill(): Promise<void>
  start(): Promise<void>
  /** Counts the transactions of the database that it has prepared, but neither committed nor rolled back. */
  prepared(): Promise<number>
}

/** Creates the database and the proxies. */
export async function openCitusServers(): Promise<CitusServers> {
  const coordinator = present(citusUrl, 'TEST_CITUS_URL')
  const servers = await workersOf(coordinator)
  const proxies = await Promise.all(servers.map((url) => openHoldingProxy(portOf(url))))
  const ports = proxies.map(({ port }) => port)
  const { url, remove } = await createOnCitus(coordinator, ports)
  const name = new URL(url).pathname.slice(1)
  const coordinatorProcess = await processOf(coordinator)
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
    killCoordinator: coordinatorProcess.kill,
    startCoordinator: coordinatorProcess.start,
    workers,
    stop: async () => {
      for (const { start } of [coordinatorProcess, ...workers]) await start()
      await onServer(url, 'SELECT recover_prepared_transactions()')
      await remove()
      for (const proxy of proxies) await proxy.close()
    },
  }
}

async function countPrepared(url: string): Promise<number> {
  const text =
    'SELECT count(*)::int AS n FROM pg_prepared_xacts WHERE database = current_database()'
  const { n } = await queryRow(url, text)
  return Number(n)
}

interface ServerProcess {
  kill(): Promise<void>
  start(): Promise<void>
}

/** Finds the process of a server, which runs on this machine. */
async function processOf(url: string): Promise<ServerProcess> {
  const { data_directory: folder } = await queryRow(url, 'SHOW data_directory')
  const lines = () => readFileSync(`${folder}/postmaster.pid`, 'utf8').split('\n')
  const initialPid = Number(lines()[0])
  const program = readlinkSync(`/proc/${initialPid}/exe`)
  const words = readFileSync(`/proc/${initialPid}/cmdline`, 'utf8').split('\0').slice(1, -1)
  const { uid, gid } = statSync(String(folder))

  async function kill(): Promise<void> {
    const pid = Number(lines()[0])
    const all = [pid, ...childrenOf(pid)]
    for (const one of all) signal(one)
    await until(() => !all.some(isRunning), { what: 'the server has exited', deadlineMs: 30_000 })
  }

  const isAnswering = async () =>
    (await queryRow(url, 'SELECT 1 AS one').catch(() => undefined)) !== undefined

  async function start(): Promise<void> {
    let server: ChildProcess | undefined
    const isBack = async () => {
      if (await isAnswering()) return true
      // A start fails while processes of the crashed server still use its shared memory.
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
      // The process has exited meanwhile.
      return []
    }
  })
}

function signal(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process has exited meanwhile.
  }
}

/** Whether a process runs. A zombie, which has exited, does not. */
function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')')).split(' ')[1] !== 'Z'
  } catch {
    return false
  }
}

async function queryRow(url: string, text: string): Promise<{ readonly [name: string]: unknown }> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
  // The connection may be lost at any time.
  client.on('error', () => {})
  await client.connect()
  try {
    const { rows } = await client.query(text)
    return present(rows[0], 'a row')
  } finally {
    await client.end().catch(() => {})
  }
}

function portOf(url: string): number {
  return Number(new URL(url).port)
}

import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { databases, type TestDatabase } from '../support/databases.ts'
import { makeFolder, type Program, spawnProgram, startProgram } from '../support/program.ts'
import { restJson } from '../support/rest.ts'
import { type Scrape, scrape } from '../support/scrape.ts'
import { acceptedId, post } from '../support/submit.ts'
import { until } from '../support/until.ts'
import { blockOf, offerOf, taggedData, untilHealth } from '../support/wallet.ts'

/** Several processes serve one port (WORKERS). */

const kind = present(
  databases.find(({ name }) => name === 'postgresql'),
  'postgresql',
)
const folder = makeFolder()
afterAll(() => folder.remove())

describe('three workers', () => {
  let database: TestDatabase
  let program: Program

  beforeAll(async () => {
    database = await kind.create()
    const keyFile = `${folder.databaseFile}.key`
    const env = { DATABASE_URL: database.url, KEY_FILE: keyFile, WORKERS: '3', METRICS_PORT: '0' }
    program = await startProgram({ ...env, METRICS_PROT: '0' })
    await untilAllHealthy()
  })
  afterAll(async () => {
    await program.end('SIGTERM')
    await database.remove()
  })

  /** A single response shows the health of the worker that received the request. */
  async function untilAllHealthy(): Promise<void> {
    const isHealthy = async () =>
      (await scrape(metricsUrlOf(program))).sum('ledger_gateway_healthy') === 3
    await until(isHealthy, { what: 'three healthy workers', deadlineMs: 50_000 })
  }

  test('serve one port, and one of them writes', async () => {
    await until(() => workersOf(program).length === 3, { what: 'three processes' })
    // A new connection may reach another worker.
    const roles = new Set<unknown>()
    await until(async () => roles.add(await roleAt(program.url)).size === 2, { what: 'both roles' })
    expect([...roles].toSorted()).toEqual(['standby', 'writer'])
  })

  test('all serve a block that one of them has accepted', async () => {
    const { bytes, blockId } = blockOf(await offerOf(program.url), taggedData('0x77', '0x01'))
    expect(await acceptedId(await post(program.url, bytes))).toBe(blockId)
    for (let connection = 0; connection < 6; connection++) {
      const metadata = await restJson(`${program.url}/api/core/v3/blocks/${blockId}/metadata`)
      expect(metadata).toMatchObject({ blockId })
    }
  })

  test('have common metrics with a label for each worker', async () => {
    const url = metricsUrlOf(program)
    const labels = (now: Scrape) => now.labels('ledger_gateway_writer', 'worker').toSorted()
    const now = await until(async () => {
      const one = await scrape(url)
      return labels(one).length === 3 && one
    })
    expect(labels(now)).toEqual(['1', '2', '3'])
    expect(now.sum('ledger_gateway_writer')).toBe(1)
    // The first process has no health of its own, which would be that of a gateway that never starts.
    expect(now.labels('ledger_gateway_healthy', 'worker').toSorted()).toEqual(['1', '2', '3'])
    const types = (await (await fetch(url)).text()).match(/^# TYPE \S+/gm) ?? []
    expect(new Set(types).size).toBe(types.length)
  })

  test('are restarted when they are killed, and the port is served meanwhile', async () => {
    const killed = workersOf(program)
    for (const pid of killed.slice(1)) process.kill(pid, 'SIGKILL')
    await until(() => program.logged().match(/"worker-ended"/g)?.length === 2, {
      what: 'the end of two workers',
    })
    expect(await roleAt(program.url)).toMatch(/^(writer|standby)$/)
    await until(() => workersOf(program).length === 3, { what: 'new workers' })
    expect(workersOf(program)).toContain(killed[0])
    const ended = { event: 'worker-ended', worker: '0' }
    expect(
      (await scrape(metricsUrlOf(program))).sum('ledger_gateway_log_events_total', ended),
    ).toBe(2)
    expect(program.logged()).toMatch(
      /"event":"worker-ended","worker":\d,"exitCode":null,"signal":"SIGKILL"/,
    )
    await untilHealth(program.url)
    // A label for each restart would add series without end.
    const workers = async () =>
      (await scrape(metricsUrlOf(program))).labels('ledger_gateway_writer', 'worker').toSorted()
    await until(async () => (await workers()).length === 3, { what: 'metrics of new workers' })
    expect(await workers()).toEqual(['1', '2', '3'])
  })

  test('serve the same port after all of them were killed', async () => {
    for (const pid of workersOf(program)) process.kill(pid, 'SIGKILL')
    await untilAllHealthy()
    expect(await roleAt(program.url)).toMatch(/^(writer|standby)$/)
  })

  test('do not end with one that is killed while a request for metrics waits for the first process', async () => {
    const first = present(program.process.pid, 'the first process')
    const killed = present(workersOf(program).at(-1), 'a worker')
    const before = ends(program)
    const url = new URL(metricsUrlOf(program))
    const socket = connect(Number(url.port), url.hostname)
    const request = 'GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n'
    socket.write(request)
    await once(socket, 'data')
    process.kill(first, 'SIGSTOP')
    await until(() => stateOf(first) === 'T', { what: 'the first process has stopped' })
    socket.write(request)
    process.kill(killed, 'SIGKILL')
    await until(() => stateOf(killed) === 'Z', { what: 'the worker has ended' })
    process.kill(first, 'SIGCONT')
    await until(() => ends(program) > before, { what: 'the end of the worker' })
    socket.destroy()
    await until(() => workersOf(program).length === 3, { what: 'a new worker' })
    await untilHealth(program.url)
  })

  test('leave no connection without an end that was given to one that is killed', async () => {
    await untilAllHealthy()
    const stopped = workersOf(program)
    for (const pid of stopped) process.kill(pid, 'SIGSTOP')
    await until(() => stopped.every((pid) => stateOf(pid) === 'T'), { what: 'all have stopped' })
    const files = () => readdirSync(`/proc/${program.process.pid}/fd`).length
    const filesBefore = files()
    const { hostname, port } = new URL(program.url)
    const ended = stopped.map(async () => {
      const socket = connect(Number(port), hostname)
      socket.write('GET /health/live HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n')
      // That of the killed worker is reset.
      socket.resume().on('error', () => {})
      await new Promise((resolve) => socket.on('close', resolve))
    })
    // The first process gives each worker one, and has it open until the worker has taken it.
    await until(() => files() >= filesBefore + 3, { what: 'three connections' })
    const before = ends(program)
    process.kill(present(stopped.at(-1), 'a worker'), 'SIGKILL')
    await until(() => ends(program) > before, { what: 'the end of the worker' })
    for (const pid of stopped.slice(0, -1)) process.kill(pid, 'SIGCONT')
    await Promise.all(ended)
    await until(() => workersOf(program).length === 3, { what: 'a new worker' })
    await untilHealth(program.url)
  })

  test('leave a warning about the settings in the metrics, whichever of them ends', async () => {
    const misspelled = { event: 'setting-misspelled' }
    const warnings = async () =>
      (await scrape(metricsUrlOf(program))).sum('ledger_gateway_log_events_total', misspelled)
    expect(await warnings()).toBe(1)
    const before = ends(program)
    process.kill(present(workersOf(program)[0], 'a worker'), 'SIGKILL')
    await until(() => ends(program) > before, { what: 'the end of the worker' })
    expect(await warnings()).toBe(1)
    await until(() => workersOf(program).length === 3, { what: 'a new worker' })
    await untilHealth(program.url)
  })

  test('are started when the system can start processes again', async () => {
    // The port is closed while no worker serves it.
    await untilAllHealthy()
    const first = String(program.process.pid)
    const limitFiles = (count: number | string) =>
      execFileSync('prlimit', ['--pid', first, `--nofile=${count}:`])
    const former = execFileSync('prlimit', [
      '--pid',
      first,
      '--nofile',
      '-o',
      'SOFT',
      '--noheadings',
    ])
    // All numbers below are in use, so no file can be opened.
    limitFiles(3)
    process.kill(present(workersOf(program)[0], 'a worker'), 'SIGKILL')
    const failed = /"event":"worker-ended","worker":\d,"reason":"spawn \S+ EMFILE"/
    await until(() => failed.test(program.logged()), { what: 'a start that failed' })
    limitFiles(String(former).trim())
    await until(() => workersOf(program).length === 3, { what: 'a new worker' })
    await untilHealth(program.url)
  })

  test('end gracefully with the first process', async () => {
    const [running] = workersOf(program)
    await program.end('SIGTERM')
    expect(program.process.exitCode).toBe(0)
    expect(program.logged()).toMatch(/"event":"stopped","worker":\d\}/)
    expect(() => process.kill(present(running, 'a worker'), 0)).toThrow('ESRCH')
  })
})

test('all processes end with a signal that arrives before the first worker serves', async () => {
  const database = await kind.create()
  const keyFile = `${folder.databaseFile}.starting.key`
  const program = spawnProgram({ DATABASE_URL: database.url, KEY_FILE: keyFile, WORKERS: '3' })
  await until(() => program.logged().includes('"event":"ledger-begins","worker":1'))
  await program.end('SIGTERM')
  expect(program.process.exitCode).toBe(0)
  expect(workersOf(program)).toEqual([])
  await database.remove()
})

test('a failed start is reported once and ends all processes', async () => {
  const program = spawnProgram({
    DATABASE_URL: 'postgresql://nobody:x@127.0.0.1:1/none',
    WORKERS: '2',
  })
  await expect(program.ready).rejects.toThrow('ended with 1')
  expect(program.logged().match(/ledger-gateway serve:/g)).toHaveLength(1)
})

test('SQLite allows only one worker', async () => {
  const program = spawnProgram({ DATABASE_URL: folder.databaseUrl, WORKERS: '2' })
  await expect(program.ready).rejects.toThrow(
    'WORKERS must be 1 unless DATABASE_URL names PostgreSQL: a SQLite file is for one process\n',
  )
})

/** Returns how many ends of workers a program has logged. */
function ends(program: Program): number {
  return program.logged().match(/"worker-ended"/g)?.length ?? 0
}

/** Returns the URL of the metrics in the first process. */
function metricsUrlOf(program: Program): string {
  const [, url] = /"event":"metrics-served","url":"([^"]+)"/.exec(program.logged()) ?? []
  return present(url, 'the URL of the metrics')
}

/** Requests the role with a new connection. */
async function roleAt(url: string): Promise<unknown> {
  const { role } = (await restJson(`${url}/health`, { headers: { connection: 'close' } })) as {
    readonly role: unknown
  }
  return role
}

/** Returns the state of a process: T if it is stopped, Z if it has ended and its parent does not know that yet. */
function stateOf(pid: number): string | undefined {
  return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.[0]
}

/** Returns the ids of the processes that a program has started. */
function workersOf({ process: { pid } }: Pick<Program, 'process'>): readonly number[] {
  const parentOf = (id: string) => {
    try {
      return Number(readFileSync(`/proc/${id}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1])
    } catch {
      // The process has ended meanwhile.
      return undefined
    }
  }
  return readdirSync('/proc')
    .filter((id) => /^\d+$/.test(id) && parentOf(id) === pid)
    .map(Number)
    .toSorted((one, other) => one - other)
}

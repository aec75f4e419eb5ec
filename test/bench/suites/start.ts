import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { present } from '../../../src/lib/assert.ts'
import { databaseUrl, onServer, startPostgresql } from '../../support/postgresql-server.ts'
import { makeFolder } from '../../support/program.ts'
import { processorMs, processorMsOfEnded } from '../cluster/processor.ts'
import { median, printTable } from '../measure.ts'
import { measureStarts } from '../scale/starts.ts'

/**
 * Measures the cost of a start: the processor time of short commands from start to end, and of `serve` until it listens, compared
 * with that of Node without a program. `BENCH_AGAINST` names the `dist/main.js` of another build, which alternates with this one.
 * Arguments are numbers of unspent outputs; then the benchmark measures starts on ledgers of these sizes instead.
 */

const rounds = Number(process.env.BENCH_ROUNDS ?? 3)
/** Linux reports processor time in hundredths of a second, and the shortest command takes only a few of them. */
const runsOfShort = 3

const built = fileURLToPath(new URL('../../../dist/main.js', import.meta.url))
const other = process.env.BENCH_AGAINST
const programs = other === undefined ? [built] : [built, other]

/** Processor time and wall-clock time in milliseconds. */
interface Cost {
  readonly processor: number
  readonly wall: number
}

/** Alternates between the builds, because the machine may temporarily be busy with other work. */
export async function run(words: readonly string[]): Promise<void> {
  if (words.length > 0) return measureStarts(words.map(Number))
  const server = await startPostgresql()
  const costs = new Map<string, Cost[]>()
  const keep = (what: string, of: string, cost: Cost) => {
    const key = `${what} ${of}`
    costs.set(key, [...(costs.get(key) ?? []), cost])
  }
  try {
    // The first round warms up.
    for (let round = 0; round <= rounds; round++) {
      if (round === 1) costs.clear()
      keep('Node itself', built, await short(['-e', '0'], {}))
      for (const [index, program] of programs.entries()) {
        const name = `start_${round}_${index}`
        await onServer(server.url, `CREATE DATABASE ${name}`)
        await measure(program, databaseUrl(server.url, name), keep)
      }
    }
  } finally {
    await server.stop()
  }
  print(costs)
}

const shortCommands = [
  ['--help'],
  ['token', '--scope', 'write'],
  ['inspect'],
  ['serve', '--help'],
] as const

async function measure(
  program: string,
  postgresql: string,
  keep: (what: string, of: string, cost: Cost) => void,
): Promise<void> {
  const folder = makeFolder()
  const env = { PORT: '0', LOG_LEVEL: 'error', KEY_FILE: `${folder.databaseFile}.key` }
  try {
    for (const words of shortCommands) {
      keep(words.join(' '), program, await short([program, ...words], env))
    }
    for (const [name, url] of [
      ['SQLite', folder.databaseUrl],
      ['PostgreSQL', postgresql],
    ] as const) {
      const withDatabase = { ...env, DATABASE_URL: url }
      keep(`serve, ${name}, new`, program, await untilItListens(program, withDatabase))
      keep(`serve, ${name}, again`, program, await untilItListens(program, withDatabase))
    }
  } finally {
    folder.remove()
  }
}

/** Measures a command that ends by itself, without input. */
async function short(words: readonly string[], env: NodeJS.ProcessEnv): Promise<Cost> {
  const startedMs = performance.now()
  const before = processorMsOfEnded()
  for (let i = 0; i < runsOfShort; i++) {
    const child = start(words, env)
    child.stdout?.resume()
    await once(child, 'exit')
  }
  return {
    processor: (processorMsOfEnded() - before) / runsOfShort,
    wall: (performance.now() - startedMs) / runsOfShort,
  }
}

async function untilItListens(program: string, env: NodeJS.ProcessEnv): Promise<Cost> {
  const startedMs = performance.now()
  const child = start([program, 'serve'], env)
  const ended = once(child, 'exit')
  // The gateway prints nothing before it listens.
  await Promise.race([
    once(present(child.stdout, 'its output'), 'data'),
    ended.then(() => Promise.reject(new Error('the gateway ended before it listened'))),
  ])
  const cost = {
    processor: processorMs(present(child.pid, 'its number')),
    wall: performance.now() - startedMs,
  }
  // SIGINT ends the gateway at once; after SIGTERM it would serve until its drain delay is over.
  child.kill('SIGINT')
  await ended
  return cost
}

function start(words: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  const { PATH } = process.env
  return spawn(process.execPath, words, {
    env: { PATH, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

function print(costs: ReadonlyMap<string, readonly Cost[]>): void {
  const processorOf = (what: string, of: string) =>
    median((costs.get(`${what} ${of}`) ?? []).map(({ processor }) => processor))
  const bare = processorOf('Node itself', built)
  const names = [...costs.keys()]
    .filter((key) => key.endsWith(` ${built}`))
    .map((key) => key.slice(0, -built.length - 1))
  const head = ['start', 'processor ms', 'relative to Node itself', 'wall-clock ms']
  printTable([
    other === undefined ? head : [...head, 'processor ms of the other build', 'ratio'],
    ...names.map((what) => {
      const own = processorOf(what, built)
      const wall = median((costs.get(`${what} ${built}`) ?? []).map((cost) => cost.wall))
      const row = [what, own.toFixed(0), (own / bare).toFixed(1), wall.toFixed(0)]
      if (other === undefined || what === 'Node itself') return row
      const ofOther = processorOf(what, other)
      return [...row, ofOther.toFixed(0), (ofOther / own).toFixed(2)]
    }),
  ])
}

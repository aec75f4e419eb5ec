import { silentLog } from '../../../src/lib/log.ts'
import { databaseOf } from '../../../src/store/connect.ts'
import { databaseUrl, onServer, startPostgresql } from '../../support/postgresql-server.ts'
import { makeFolder, spawnProgram } from '../../support/program.ts'
import { until } from '../../support/until.ts'
import { processorMs } from '../cluster/processor.ts'
import { median, printTable } from '../measure.ts'
import { unwrap } from '../transfers.ts'
import { healthOf, residentBytes } from './probe.ts'
import { growUnspent } from './unspent.ts'

/** What a start costs on ledgers of many unspent outputs: until it answers, until it writes, and how much memory it has then. */

const rounds = 3
const patienceMs = 3_600_000

/** Measures each size on both databases, or on the one that `BENCH_DATABASE` names. */
export async function measureStarts(sizes: readonly number[]): Promise<void> {
  const only = process.env.BENCH_DATABASE
  const server =
    only === 'sqlite'
      ? undefined
      : await startPostgresql(['shared_buffers=512MB', 'fsync=off', 'max_wal_size=4GB'])
  const rows: string[][] = []
  try {
    for (const size of sizes) {
      const folder = makeFolder()
      if (only !== 'postgresql') {
        rows.push(await measure(['SQLite', folder.databaseUrl], folder.databaseFile, size))
      }
      if (server !== undefined) {
        const name = `starts_${size}`
        await onServer(server.url, `CREATE DATABASE ${name}`)
        const url = databaseUrl(server.url, name)
        rows.push(await measure(['PostgreSQL', url], folder.databaseFile, size))
      }
      folder.remove()
    }
  } finally {
    await server?.stop()
  }
  const head = ['database', 'unspent outputs', 'first start, writes', 'answers', 'writes']
  printTable([[...head, 'processor until it writes', 'memory'], ...rows])
}

async function measure(
  [name, url]: readonly [string, string],
  file: string,
  size: number,
): Promise<string[]> {
  const env = { DATABASE_URL: url, KEY_FILE: `${file}.key` }
  await start(env)
  const database = unwrap(await databaseOf({ url, wakeUrl: undefined, log: silentLog }))
  await growUnspent(database, size)
  await database.close()
  const first = await start(env)
  const later: Awaited<ReturnType<typeof start>>[] = []
  for (let round = 0; round < rounds; round++) later.push(await start(env))
  const middle = (of: keyof (typeof later)[number]) => median(later.map((one) => one[of]))
  return [
    name,
    size.toLocaleString('en'),
    seconds(first.writesMs),
    seconds(middle('answersMs')),
    seconds(middle('writesMs')),
    seconds(middle('processor')),
    `${(middle('bytes') / 2 ** 20).toFixed(0)} MB`,
  ]
}

/** Starts a gateway until it writes, and ends it. */
async function start(env: Record<string, string>) {
  const begun = performance.now()
  const program = spawnProgram(env)
  const url = await program.ready
  const answersMs = performance.now() - begun
  await until(async () => (await healthOf(url))?.role === 'writer', { deadlineMs: patienceMs })
  const writesMs = performance.now() - begun
  const pid = program.process.pid ?? 0
  const processor = processorMs(pid)
  const bytes = residentBytes(pid)
  await program.end('SIGTERM')
  return { answersMs, writesMs, processor, bytes }
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`
}

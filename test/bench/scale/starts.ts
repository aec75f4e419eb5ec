import { silentLog } from '../../../src/lib/log.ts'
import { databaseOf } from '../../../src/store/connect.ts'
import { databaseUrl, onServer, startPostgresql } from '../../support/postgresql-server.ts'
import { makeFolder, spawnProgram } from '../../support/program.ts'
import { until } from '../../support/until.ts'
import { median, printTable } from '../measure.ts'
import { unwrap } from '../transfers.ts'
import { healthOf, residentBytes } from './probe.ts'
import { growUnspent } from './unspent.ts'

/** What a start costs on ledgers of many unspent outputs: until it answers, until it writes, and how much memory it has then. */

const rounds = 3
const patienceMs = 600_000

/** Measures each size on both databases. */
export async function measureStarts(sizes: readonly number[]): Promise<void> {
  const server = await startPostgresql(['shared_buffers=512MB', 'fsync=off'])
  const rows: string[][] = []
  try {
    for (const size of sizes) {
      const folder = makeFolder()
      rows.push(await measure(['SQLite', folder.databaseUrl], folder.databaseFile, size))
      const name = `starts_${size}`
      await onServer(server.url, `CREATE DATABASE ${name}`)
      const url = databaseUrl(server.url, name)
      rows.push(await measure(['PostgreSQL', url], folder.databaseFile, size))
      folder.remove()
    }
  } finally {
    await server.stop()
  }
  const head = ['database', 'unspent outputs', 'first start, writes', 'answers', 'writes', 'memory']
  printTable([head, ...rows])
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
  // As a database of a version without pages: the next start builds them.
  await database.writer.$executeRawUnsafe('DELETE FROM trie_state')
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
  const bytes = residentBytes(program.process.pid ?? 0)
  await program.end('SIGTERM')
  return { answersMs, writesMs, bytes }
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`
}

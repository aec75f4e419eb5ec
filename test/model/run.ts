import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type FailureReason,
  failureReasonName,
  failureReasonNumbers,
} from '../../src/ledger/failure-reasons.ts'
import { assert } from '../../src/lib/assert.ts'
import { databaseUrl, onServer, startPostgresql } from '../support/postgresql-server.ts'
import { type Standby, startStandby } from '../support/standby.ts'
import { type Replica, runHistory } from './history/history.ts'
import { runKills } from './kills.ts'

/** Runs histories and kills until the time is over, each with a seed of its own. The last line states whether the run passed. */

const help = `npm run test:model -- [--minutes N] [--seed N] [--database sqlite|postgresql] [--only KIND] [--former FOLDER] [--rounds N] [--players N]

Compares random histories of a ledger with a second, slow ledger: the tables, many answers, and what subscribers received.
The kinds take turns: one has a log and blocks of a limited age, one is of real processes that are killed, and on PostgreSQL one reads
from a replica.

--minutes N    ends after the history that exceeds N minutes; 5 by default
--seed N       the seed of the first history; the next one has the next seed
--database D   sqlite by default; postgresql starts a server of its own
--only KIND    history, retention, kills or replica; by default one after another
--former FOLDER  a built checkout of a former version, whose gateway runs until the middle of each history
--rounds N     the rounds of a history; 60 by default
--players N    the players of a history; 12 by default`

const words = process.argv.slice(2)
if (words.includes('--help')) {
  console.log(help)
  process.exit()
}

function given(flag: string, byDefault: string): string {
  const at = words.indexOf(flag)
  return at === -1 ? byDefault : (words[at + 1] ?? byDefault)
}

const number = (flag: string, byDefault: number) => Number(given(flag, `${byDefault}`))
const only = given('--only', '')
const isSqlite = given('--database', 'sqlite') === 'sqlite'
const allKinds = [
  'history',
  'retention',
  'kills',
  ...(isSqlite ? [] : (['replica'] as const)),
] as const
const kinds = allKinds.filter((kind) => kind.startsWith(only))
const former = given('--former', '') || undefined
const end = performance.now() + number('--minutes', 5) * 60_000
const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-model-'))
const server = isSqlite ? undefined : await startPostgresql()
let standby: Standby | undefined
let seed = number('--seed', Date.now() % 1_000_000)
const onProgress = (text: string) => console.log(text)
const outcomes = new Map<string, number>()
let histories = 0
let made = 0
let failed = 0
while (histories === 0 || performance.now() < end) {
  const databaseUrl = await newDatabase()
  const kind = kinds[histories % kinds.length] ?? 'history'
  console.log(`${kind}, seed ${seed}`)
  const running = kind === 'kills' ? kill(databaseUrl) : play(databaseUrl, kind)
  const { differences, extent } = await running.catch((failure) => ({
    differences: [`the run did not reach its end: ${failure?.stack ?? failure}`],
    extent: 'nothing compared',
  }))
  for (const difference of differences.slice(0, 10)) console.log(difference)
  console.log(`seed ${seed}: ${differences.length} differences; ${extent}`)
  if (differences.length > 0) failed++
  histories++
  seed++
}
await standby?.stop()
await server?.stop()
rmSync(folder, { recursive: true, force: true })
const lines = [...outcomes].sort(([a], [b]) => (a < b ? -1 : 1))
console.log(lines.map(([outcome, count]) => `${count} ${outcome}`).join('\n'))
const missing = Object.keys(failureReasonNumbers).filter(
  (code) =>
    !outcomes.has(`verdict ${failureReasonName(failureReasonNumbers[code as FailureReason])}`),
)
console.log(`never reached: ${missing.join(', ')}`)
console.log(failed === 0 ? `PASSED: ${histories} histories` : `FAILED: ${failed} of ${histories}`)
process.exitCode = failed === 0 ? 0 : 1

async function newDatabase(): Promise<string> {
  const name = `model_${made++}`
  if (server === undefined) return `file:${join(folder, `${name}.db`)}`
  await onServer(server.url, `CREATE DATABASE ${name}`)
  return databaseUrl(server.url, name)
}

async function play(databaseUrl: string, kind: Exclude<(typeof kinds)[number], 'kills'>) {
  const rounds = number('--rounds', 60)
  const players = number('--players', 12)
  const retention = kind === 'retention' ? { log: 40, blocks: 15 } : undefined
  const partitionRows = retention === undefined || isSqlite ? undefined : 200
  const replica = kind === 'replica' ? await replicaOf(databaseUrl) : undefined
  const extent = { rounds, players, retention, partitionRows, replica, former }
  const report = await runHistory({ seed, databaseUrl, ...extent, newDatabase, onProgress })
  for (const [outcome, count] of report.outcomes) {
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + count)
  }
  const { differences, blocks, rows, compared } = report
  return { differences, extent: `${blocks} blocks, ${rows} rows, ${compared} comparisons` }
}

/** The replica of a database, on a server that replicates all databases. */
async function replicaOf(url: string): Promise<Replica> {
  assert(server !== undefined, 'a replica is one of PostgreSQL')
  standby ??= await startStandby(server.url)
  const { url: standbyUrl } = standby
  const name = new URL(url).pathname.slice(1)
  return {
    url: databaseUrl(standbyUrl, name),
    pause: () => onServer(standbyUrl, 'SELECT pg_wal_replay_pause()'),
    resume: () => onServer(standbyUrl, 'SELECT pg_wal_replay_resume()'),
  }
}

async function kill(databaseUrl: string) {
  const gateways = isSqlite ? 1 : 2
  const env = {
    ...{ KEY_FILE: join(folder, 'key'), STATE_MEMORY: '0', MAX_LOOP_DELAY: '0' },
    ...{ CLIENT_COST: '100000000', CLIENT_CONNECTIONS: '10000', CLIENT_PAYLOADS: '1000000' },
  }
  const report = await runKills({ databaseUrl, gateways, kills: 8, seed, env, onProgress })
  const { differences, acknowledged } = report
  return { differences, extent: `${acknowledged} acknowledged blocks` }
}

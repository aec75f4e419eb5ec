import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { silentLog } from '../../../src/lib/log.ts'
import { databaseOf } from '../../../src/store/connect.ts'
import { databaseUrl, onServer, startPostgresql } from '../../support/postgresql-server.ts'
import { until } from '../../support/until.ts'
import { type ClusterGateway, startClusterGateway } from '../../torture/cluster/gateways.ts'
import {
  newestSlot,
  readWriter,
  type Takeover,
  timeTakeover,
  withClient,
} from '../../torture/cluster/lease.ts'
import { printTable } from '../measure.ts'
import { healthOf, residentBytes, watchAnswers } from '../scale/probe.ts'
import { growUnspent } from '../scale/unspent.ts'
import { unwrap } from '../transfers.ts'

/**
 * Kills the writer of three gateways on one PostgreSQL, and measures the time until another one has committed a slot, and the
 * slowest response of the others meanwhile. The arguments are numbers of unspent outputs.
 */

const sizes = [0, 100_000, 1_000_000]
const kills = 3
/** The maximum wait for a takeover. */
const patienceMs = 90_000
const buildMs = 1_200_000

/** Measures each size on its own database. */
export async function run(words: readonly string[]): Promise<void> {
  const server = await startPostgresql(['shared_buffers=512MB', 'fsync=off'])
  const rows: string[][] = []
  try {
    for (const size of words.length === 0 ? sizes : words.map(Number)) {
      const name = `takeover_${size}`
      await onServer(server.url, `CREATE DATABASE ${name}`)
      rows.push(await measure(databaseUrl(server.url, name), size))
    }
  } finally {
    await server.stop()
  }
  const head = [
    'unspent outputs',
    'first slot',
    'lease taken',
    'slot committed',
    'slowest response',
  ]
  printTable([[...head, 'memory of the writer'], ...rows])
}

async function measure(url: string, size: number): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-takeover-'))
  const env = { DATABASE_URL: url, KEY_FILE: join(folder, 'test.key'), DRAIN_SECONDS: '0' }
  const gateways: ClusterGateway[] = []
  try {
    const founder = await startClusterGateway(env)
    gateways.push(founder)
    await until(async () => (await healthOf(founder.url))?.role === 'writer')
    await founder.end()
    const database = unwrap(await databaseOf({ url, wakeUrl: undefined, log: silentLog }))
    await growUnspent(database, size)
    await database.close()
    await onServer(url, 'ANALYZE')
    // Starts the gateway again, which builds the tries.
    await founder.start()
    await until(async () => (await healthOf(founder.url))?.role === 'writer', {
      what: 'the tries are built',
      deadlineMs: buildMs,
    })
    const begun = performance.now()
    const others = await Promise.all([startClusterGateway(env), startClusterGateway(env)])
    gateways.push(...others)
    const committed = await withClient(url, async (client) => {
      const former = await newestSlot(client)
      return until(async () => (await newestSlot(client)) > former, {
        what: 'a slot is committed',
        deadlineMs: patienceMs,
      })
    }).catch(() => false)
    const firstMs = performance.now() - begun
    const [takeovers, longest, memory] = committed ? await killWriters(url, gateways) : [[], [], []]
    return [
      size.toLocaleString('en'),
      committed ? ms(firstMs) : `none in ${ms(patienceMs)}`,
      takeovers.map(({ takenMs }) => ms(takenMs)).join(', '),
      takeovers.map(({ committedMs }) => ms(committedMs)).join(', '),
      longest.map(ms).join(', '),
      memory.map((bytes) => `${(bytes / 2 ** 20).toFixed(0)} MB`).join(', '),
    ]
  } finally {
    for (const gateway of gateways) gateway.wake()
    await Promise.all(gateways.map((gateway) => gateway.end()))
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Kills one writer after the other, and starts each again when another one is the writer. */
async function killWriters(
  url: string,
  gateways: readonly ClusterGateway[],
): Promise<[Takeover[], number[], number[]]> {
  const takeovers: Takeover[] = []
  const longest: number[] = []
  const memory: number[] = []
  for (let n = 0; n < kills; n++) {
    await delay(1_500)
    const { term, pid } = await withClient(url, readWriter)
    const writer = gateways.find((gateway) => gateway.pid() === pid)
    if (writer === undefined) throw new Error(`the writer ${pid} is not one of the gateways`)
    const watches = gateways.filter((one) => one !== writer).map((one) => watchAnswers(one.url))
    memory.push(residentBytes(pid))
    const takeover = timeTakeover(url, term)
    await writer.kill()
    const given = delay(patienceMs, undefined, { ref: false })
    const taken = await Promise.race([takeover, given])
    longest.push(Math.max(...(await Promise.all(watches.map((watch) => watch.stop())))))
    if (taken === undefined) {
      takeovers.push({ takenMs: Number.POSITIVE_INFINITY, committedMs: Number.POSITIVE_INFINITY })
      break
    }
    takeovers.push(taken)
    await writer.start()
  }
  return [takeovers, longest, memory]
}

function ms(value: number): string {
  return value > patienceMs ? `none in ${patienceMs / 1_000} s` : `${(value / 1_000).toFixed(2)} s`
}

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { present } from '../../../src/lib/assert.ts'
import { distribute } from '../../support/citus.ts'
import { createRandom } from '../../support/random.ts'
import { until } from '../../support/until.ts'
import { untilCommitted, untilHealth } from '../../support/wallet.ts'
import { type ClusterGateway, startClusterGateway } from '../cluster/gateways.ts'
import { startSubmitters } from '../cluster/submitters.ts'
import { judgeDatabase } from '../cluster/verdict.ts'
import { type Listener, startListener } from '../listener.ts'
import { faultsOf, rowsFor, seqIn, type ToldRow } from '../log-rows.ts'
import { type CitusServers, type CitusWorker, openCitusServers } from './servers.ts'

/** Two gateways under load on Citus, whose workers and coordinator are killed, also between PREPARE and COMMIT PREPARED. */

/** How much. */
export interface CitusOptions {
  readonly troubles: readonly CitusTrouble[]
  readonly blocksPerSecond: number
  readonly listeners: number
  readonly seed: number
  readonly onProgress: (text: string) => void
}

/**
 * A worker is killed at any moment; when it has prepared a slot that is committed elsewhere; the coordinator is killed then, or at
 * any moment; the word to commit comes late; the gateway that writes is killed.
 */
export type CitusTrouble =
  | 'worker'
  | 'prepared'
  | 'coordinator-prepared'
  | 'coordinator'
  | 'late'
  | 'gateway'

/** What was done, and what came of it. */
export interface CitusReport {
  readonly acknowledged: number
  /** How often a worker had a slot prepared, neither committed nor rolled back, after what was killed had come back. */
  readonly prepared: number
  /** From the trouble until a slot was published again that was committed behind it, in milliseconds. */
  readonly timesMs: readonly number[]
  readonly rows: number
  readonly deliveries: number
  /** Nothing, where all is well. */
  readonly faults: readonly string[]
}

/** Tortures them. */
export async function tortureCitus(options: CitusOptions): Promise<CitusReport> {
  const servers = await openCitusServers()
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-citus-'))
  const gateways: ClusterGateway[] = []
  try {
    const env = { KEY_FILE: join(folder, 'test.key'), DRAIN_SECONDS: '0' }
    for (let i = 0; i < 2; i++) {
      gateways.push(await startClusterGateway({ ...env, DATABASE_URL: servers.url }))
    }
    for (const { url } of gateways) await untilHealth(url)
    return await tortured(servers, gateways, options)
  } catch (failure) {
    const said = gateways.flatMap(({ lines }) => lines().slice(-12))
    throw new Error(`${failure}\n${said.map(({ text }) => text.slice(0, 700)).join('\n')}`)
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.end()))
    await servers.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function tortured(
  servers: CitusServers,
  gateways: readonly ClusterGateway[],
  { troubles, blocksPerSecond, listeners: count, seed, onProgress }: CitusOptions,
): Promise<CitusReport> {
  const random = createRandom(seed)
  const [first = '', second = ''] = gateways.map(({ url }) => url)
  const urls = [first, second] as const
  const submitters = await startSubmitters({ urls, perSecond: blocksPerSecond, random })
  const listeners = Array.from({ length: count }, (_, i) => {
    const classes = ['OWNED', 'MENTIONED'] as const
    const own = createRandom(seed + 1 + i)
    return startListener({ urls, random: own, addresses: undefined, classes, after: undefined })
  })
  // While they write and read.
  const done = await distribute(servers.url, { knownMs: 12_000 })
  if (!done.ok) throw new Error(done.error.code)
  onProgress('distributed under load')
  const timesMs: number[] = []
  const faults: string[] = []
  let prepared = 0
  for (const [i, trouble] of troubles.entries()) {
    await delay(random.between(300, 1_500))
    const worker = present(servers.workers[random.between(0, servers.workers.length - 1)], 'one')
    const begun = performance.now()
    const left = await meet(trouble, { servers, worker, gateways })
    prepared += left > 0 ? 1 : 0
    const { length } = submitters.acknowledged
    await until(() => submitters.acknowledged.length > length, { deadlineMs: 120_000 })
    const slot = Math.max(...submitters.acknowledged.slice(length).map((one) => one.slot))
    await untilCommitted(first, slot, 120_000)
    await untilCommitted(second, slot, 120_000)
    timesMs.push(performance.now() - begun)
    const looked = await judgeDatabase(servers.url, [])
    faults.push(...looked.faults)
    onProgress(
      `${i + 1}: ${trouble}, ${left} prepared, went on after ${Math.round(timesMs.at(-1) ?? 0)} ms, ${looked.rows.length} rows, ${looked.faults.length} faults`,
    )
  }
  await submitters.stop()
  const { acknowledged } = submitters
  await untilCommitted(first, Math.max(0, ...acknowledged.map(({ slot }) => slot)) + 1)
  const judged = await judgeDatabase(servers.url, acknowledged)
  await told(listeners, judged.rows)
  await Promise.all(listeners.map((listener) => listener.stop()))
  return {
    acknowledged: acknowledged.length,
    prepared,
    timesMs,
    rows: judged.rows.length,
    deliveries: listeners.reduce((sum, { history }) => sum + history.length, 0),
    faults: [
      ...faults,
      ...judged.faults,
      ...submitters.faults,
      ...gateways.flatMap(complaints),
      ...listeners.flatMap((listener) => faultsOf(listener, judged.rows)),
    ],
  }
}

interface Place {
  readonly servers: CitusServers
  readonly worker: CitusWorker
  readonly gateways: readonly ClusterGateway[]
}

/** Gives how much a worker had prepared when all was back. */
async function meet(trouble: CitusTrouble, { servers, worker, gateways }: Place): Promise<number> {
  const commitHeld = () => worker.proxy.hold('COMMIT PREPARED')
  switch (trouble) {
    case 'worker': {
      await worker.kill()
      await worker.start()
      return 0
    }
    case 'prepared': {
      const held = await commitHeld()
      await worker.kill()
      held.lose()
      await worker.start()
      return await worker.prepared()
    }
    case 'coordinator-prepared': {
      const held = await commitHeld()
      await servers.killCoordinator()
      held.lose()
      await servers.startCoordinator()
      return await worker.prepared()
    }
    case 'coordinator': {
      await servers.killCoordinator()
      await servers.startCoordinator()
      return 0
    }
    case 'late': {
      const held = await commitHeld()
      await delay(lateMs)
      const left = await worker.prepared()
      held.release()
      return left
    }
    case 'gateway': {
      const held = await commitHeld()
      const writer = present(gateways[await writerAmong(gateways)], 'a writer')
      await writer.kill()
      const left = await worker.prepared()
      held.lose()
      await writer.start()
      return left
    }
  }
}

/** Longer than a lease. */
const lateMs = 8_000

async function writerAmong(gateways: readonly ClusterGateway[]): Promise<number> {
  for (const [i, { url }] of gateways.entries()) {
    const response = await fetch(`${url}/health/ready`)
    const { role } = await response.json()
    if (role === 'writer') return i
  }
  return 0
}

/** What a gateway says went wrong, besides that its database was away. */
function complaints({ lines, url }: ClusterGateway): string[] {
  return lines()
    .filter(({ level, event }) => level === 'error' && event !== 'database-away')
    .map(({ text }) => `${url} says ${text.slice(0, 1_000)}`)
}

async function told(listeners: readonly Listener[], rows: readonly ToldRow[]): Promise<void> {
  for (const listener of listeners) {
    const last = rowsFor(listener, rows).at(-1)?.seq ?? 0
    const what = `a listener has come to position ${last}`
    const isThere = () => (seqIn(listener.cursor()) ?? 0) >= last
    await until(isThere, { what, deadlineMs: 120_000 })
  }
}

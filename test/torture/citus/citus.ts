import { setTimeout as delay } from 'node:timers/promises'
import { present } from '../../../src/lib/assert.ts'
import { distribute } from '../../support/citus.ts'
import { createRandom } from '../../support/random.ts'
import { until } from '../../support/until.ts'
import { untilCommitted, untilHealth } from '../../support/wallet.ts'
import { checkDatabase } from '../cluster/check-database.ts'
import { type ClusterGateway, loggedErrors } from '../cluster/gateways.ts'
import { startSubmitters } from '../cluster/submitters.ts'
import { checkRun, type Run, withGateways } from '../gateways-under-load.ts'
import { startSubscribers } from '../subscribers.ts'
import { type CitusServers, type CitusWorker, openCitusServers } from './servers.ts'

/** Runs two gateways under load on Citus, whose workers and coordinator are killed, also between PREPARE and COMMIT PREPARED. */

/** The extent of a run. */
export interface CitusOptions {
  readonly troubles: readonly CitusTrouble[]
  readonly blocksPerSecond: number
  readonly subscribers: number
  readonly seed: number
  readonly onProgress: (text: string) => void
}

/**
 * `'worker'` and `'coordinator'` kill that server at a random moment. The other kinds hold a `COMMIT PREPARED` to a worker: they then kill
 * the worker, the coordinator or the writing gateway and drop the statement, or (`'late'`) send it later than a lease lasts.
 */
export type CitusTrouble =
  | 'worker'
  | 'prepared'
  | 'coordinator-prepared'
  | 'coordinator'
  | 'late'
  | 'gateway'

/** The result of a run. */
export interface CitusReport {
  readonly acknowledged: number
  /** The number of failures after which a worker had a slot that was prepared, but neither committed nor rolled back. */
  readonly prepared: number
  /** The time from each failure until both gateways had published a block acknowledged after it, in milliseconds. */
  readonly timesMs: readonly number[]
  readonly rows: number
  readonly deliveries: number
  /** Empty if the run passed. */
  readonly faults: readonly string[]
}

/** Runs the torture. */
export async function tortureCitus(options: CitusOptions): Promise<CitusReport> {
  const servers = await openCitusServers()
  return await withGateways({ name: 'citus', stop: servers.stop }, async (run) => {
    const gateways: ClusterGateway[] = []
    try {
      const env = { DATABASE_URL: servers.url }
      for (let i = 0; i < 2; i++) gateways.push(await run.startGateway(env))
      for (const { url } of gateways) await untilHealth(url)
      return await runTroubles({ ...run, servers, gateways }, options)
    } catch (failure) {
      const logged = gateways.flatMap(({ lines }) => lines().slice(-12))
      throw new Error(`${failure}\n${logged.map(({ text }) => text.slice(0, 700)).join('\n')}`)
    }
  })
}

interface Processes extends Run {
  readonly servers: CitusServers
  readonly gateways: readonly ClusterGateway[]
}

async function runTroubles(
  { servers, gateways, stopAtEnd }: Processes,
  { troubles, blocksPerSecond, subscribers: count, seed, onProgress }: CitusOptions,
): Promise<CitusReport> {
  const random = createRandom(seed)
  const [first = '', second = ''] = gateways.map(({ url }) => url)
  const urls = [first, second] as const
  const submitters = stopAtEnd(await startSubmitters({ urls, perSecond: blocksPerSecond, random }))
  const subscribers = startSubscribers(urls, { subscribers: count, seed }).map(stopAtEnd)
  // The tables are distributed while the gateways write and read.
  const distributed = await distribute(servers.url, { knownMs: 12_000 })
  if (!distributed.ok) throw new Error(distributed.error.code)
  onProgress('distributed under load')
  const timesMs: number[] = []
  const faults: string[] = []
  let prepared = 0
  for (const [i, trouble] of troubles.entries()) {
    await delay(random.between(300, 1_500))
    const worker = present(
      servers.workers[random.between(0, servers.workers.length - 1)],
      'a worker',
    )
    const start = performance.now()
    const left = await causeTrouble(trouble, { servers, worker, gateways })
    prepared += left > 0 ? 1 : 0
    const { length } = submitters.acknowledged
    await until(() => submitters.acknowledged.length > length, { deadlineMs: 120_000 })
    const slot = Math.max(...submitters.acknowledged.slice(length).map((one) => one.slot))
    await untilCommitted(first, slot, 120_000)
    await untilCommitted(second, slot, 120_000)
    timesMs.push(performance.now() - start)
    const checked = await checkDatabase(servers.url, [])
    faults.push(...checked.faults)
    onProgress(
      `${i + 1}: ${trouble}, ${left} prepared, continued after ${Math.round(timesMs.at(-1) ?? 0)} ms, ${checked.rows.length} rows, ${checked.faults.length} faults`,
    )
  }
  await submitters.stop()
  const { acknowledged } = submitters
  const databaseUrl = servers.url
  const checked = await checkRun({ gatewayUrl: first, databaseUrl, acknowledged, subscribers })
  return {
    acknowledged: acknowledged.length,
    ...checked,
    prepared,
    timesMs,
    faults: [
      ...faults,
      ...checked.faults,
      ...submitters.faults,
      ...gateways.flatMap((gateway) => loggedErrors(gateway, ['database-away'])),
    ],
  }
}

interface Target {
  readonly servers: CitusServers
  readonly worker: CitusWorker
  readonly gateways: readonly ClusterGateway[]
}

/** Makes a failure and repairs it. Returns the number of transactions that the worker then has prepared. */
async function causeTrouble(
  trouble: CitusTrouble,
  { servers, worker, gateways }: Target,
): Promise<number> {
  const holdCommit = () => worker.proxy.hold('COMMIT PREPARED')
  switch (trouble) {
    case 'worker': {
      await worker.kill()
      await worker.start()
      return 0
    }
    case 'prepared': {
      const held = await holdCommit()
      await worker.kill()
      held.drop()
      await worker.start()
      return await worker.prepared()
    }
    case 'coordinator-prepared': {
      const held = await holdCommit()
      await servers.killCoordinator()
      held.drop()
      await servers.startCoordinator()
      return await worker.prepared()
    }
    case 'coordinator': {
      await servers.killCoordinator()
      await servers.startCoordinator()
      return 0
    }
    case 'late': {
      const held = await holdCommit()
      await delay(commitDelayMs)
      const left = await worker.prepared()
      held.release()
      return left
    }
    case 'gateway': {
      const held = await holdCommit()
      const writer = present(gateways[await writerIndexOf(gateways)], 'a writer')
      await writer.kill()
      const left = await worker.prepared()
      held.drop()
      await writer.start()
      return left
    }
  }
}

/** Longer than a lease. */
const commitDelayMs = 8_000

async function writerIndexOf(gateways: readonly ClusterGateway[]): Promise<number> {
  for (const [i, { url }] of gateways.entries()) {
    const response = await fetch(`${url}/health/ready`)
    const { role } = await response.json()
    if (role === 'writer') return i
  }
  return 0
}

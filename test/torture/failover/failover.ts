import { setTimeout as delay } from 'node:timers/promises'
import { restore } from '../../../src/cli/restore.ts'
import { createRandom } from '../../support/random.ts'
import { runCommand } from '../../support/run-command.ts'
import { until } from '../../support/until.ts'
import { checkDatabase } from '../cluster/check-database.ts'
import { type ClusterGateway, loggedErrors, urlsOf } from '../cluster/gateways.ts'
import { type Acknowledged, startSubmitters } from '../cluster/submitters.ts'
import { checkRun, type Run, withGateways } from '../gateways-under-load.ts'
import type { Subscriber } from '../subscriber.ts'
import { startSubscribers } from '../subscribers.ts'
import { expectedErrors, readiness, untilReady } from './readiness.ts'
import { type Servers, startServers } from './servers.ts'

/** Runs two gateways on a PostgreSQL whose primary crashes repeatedly under load, and whose standby is promoted. */

/** The extent of a run. */
export interface FailoverOptions {
  readonly failovers: number
  readonly isSynchronous: boolean
  readonly blocksPerSecond: number
  readonly subscribers: number
  readonly seed: number
  readonly onProgress: (text: string) => void
}

/** The result of a run. */
export interface FailoverReport {
  readonly acknowledged: number
  /** The number of acknowledged blocks that an asynchronous standby did not have at the last failover. */
  readonly lost: number
  /**
   * The time from each crash until a block was accepted, in milliseconds; with an asynchronous standby, until both gateways had logged
   * that history is lost.
   */
  readonly timesMs: readonly number[]
  readonly rows: number
  readonly deliveries: number
  /** Empty if the run passed. */
  readonly faults: readonly string[]
}

/** Runs the torture with a synchronous standby, or with an asynchronous one whose replication is paused before each failover. */
export async function tortureFailover(options: FailoverOptions): Promise<FailoverReport> {
  const servers = await startServers(options.isSynchronous)
  return await withGateways({ name: 'failover', stop: servers.stop }, async (run) => {
    const gateways: ClusterGateway[] = []
    for (const url of servers.urls) gateways.push(await run.startGateway({ DATABASE_URL: url }))
    await untilReady(gateways)
    const failOver = options.isSynchronous ? runSynchronous : runAsynchronous
    return await failOver({ ...run, servers, gateways }, options)
  })
}

interface Processes extends Run {
  readonly servers: Servers
  readonly gateways: readonly ClusterGateway[]
}

/** Checks that the database has each acknowledged block, and that each subscriber received the whole log. */
async function runSynchronous(
  processes: Processes,
  options: FailoverOptions,
): Promise<FailoverReport> {
  const { servers, gateways, stopAtEnd } = processes
  const random = createRandom(options.seed)
  const urls = urlsOf(gateways)
  const subscribers = startSubscribers(urls, options).map(stopAtEnd)
  const { blocksPerSecond: perSecond } = options
  const submitters = stopAtEnd(await startSubmitters({ urls, perSecond, random }))
  const timesMs: number[] = []
  for (let i = 1; i <= options.failovers; i++) {
    await delay(random.between(500, 2_000))
    const start = performance.now()
    await servers.failOver()
    const { length } = submitters.acknowledged
    await until(() => submitters.acknowledged.length > length, { deadlineMs: 120_000 })
    timesMs.push(performance.now() - start)
    await untilReady(gateways)
    options.onProgress(`${i}: a block was accepted after ${Math.round(timesMs.at(-1) ?? 0)} ms`)
    if (i < options.failovers) await servers.replace()
  }
  await submitters.stop()
  const { acknowledged } = submitters
  const databaseUrl = servers.primaryUrl()
  const checked = await checkRun({ gatewayUrl: urls[0], databaseUrl, acknowledged, subscribers })
  return {
    acknowledged: acknowledged.length,
    ...checked,
    lost: 0,
    timesMs,
    faults: [
      ...checked.faults,
      ...submitters.faults,
      ...gateways.flatMap((gateway) => loggedErrors(gateway, expectedErrors)),
    ],
  }
}

/** Checks that each gateway reports the loss of blocks, and accepts no block until `restore --accept` has run. */
async function runAsynchronous(
  processes: Processes,
  options: FailoverOptions,
): Promise<FailoverReport> {
  const { servers, gateways, stopAtEnd } = processes
  const random = createRandom(options.seed)
  const urls = urlsOf(gateways)
  const faults: string[] = []
  const timesMs: number[] = []
  let lost = 0
  let countBefore = 0
  let subscribers: readonly Subscriber[] = []
  const { blocksPerSecond: perSecond } = options
  const submitters = stopAtEnd(await startSubmitters({ urls, perSecond, random }))
  for (let i = 1; i <= options.failovers; i++) {
    servers.pauseReplication()
    const before = submitters.acknowledged.length
    await until(() => submitters.acknowledged.length >= before + 10, { deadlineMs: 60_000 })
    const start = performance.now()
    await servers.failOver()
    const isLogged = () => gateways.every((gateway) => rewindsOf(gateway) === i)
    await until(isLogged, { what: 'each gateway logs that history is lost', deadlineMs: 60_000 })
    timesMs.push(performance.now() - start)
    faults.push(...(await readinessFaults(gateways)))
    countBefore = submitters.acknowledged.length
    // Blocks sent now are refused, and the submitters repeat them.
    await delay(500)
    if (submitters.acknowledged.length > countBefore) {
      faults.push('a block was accepted before the loss of history was accepted')
    }
    lost = await countLost(servers, submitters.acknowledged)
    const ms = Math.round(timesMs.at(-1) ?? 0)
    options.onProgress(`${i}: logged after ${ms} ms, ${lost} blocks lost`)
    await runCommand(restore, ['--accept'], { env: { DATABASE_URL: servers.primaryUrl() } })
    await untilReady(gateways)
    if (i === options.failovers) subscribers = startSubscribers(urls, options).map(stopAtEnd)
    await until(() => submitters.acknowledged.length >= countBefore + 20, { deadlineMs: 60_000 })
    if (i < options.failovers) await servers.replace()
  }
  await submitters.stop()
  if (lost === 0) faults.push('no block was lost: not enough for a result')
  // Submitters may also spend outputs that are lost; the checks leave these payments out.
  const checked = await checkRun({
    gatewayUrl: urls[0],
    databaseUrl: servers.primaryUrl(),
    acknowledged: submitters.acknowledged.slice(countBefore),
    subscribers,
    losses: 'POSSIBLE',
  })
  return {
    acknowledged: submitters.acknowledged.length,
    ...checked,
    lost,
    timesMs,
    faults: [...faults, ...checked.faults],
  }
}

/** Returns the gateways that do not report that history is lost. */
async function readinessFaults(gateways: readonly ClusterGateway[]): Promise<readonly string[]> {
  const faults: string[] = []
  for (const { url } of gateways) {
    const { status, reason } = await readiness(url)
    if (status !== 503 || reason !== 'history rewound') {
      faults.push(`${url} reports status ${status} (${reason})`)
    }
  }
  return faults
}

/** Counts the acknowledged blocks that the primary lacks. */
async function countLost(servers: Servers, acknowledged: readonly Acknowledged[]): Promise<number> {
  const { faults } = await checkDatabase(servers.primaryUrl(), acknowledged)
  return faults.filter((fault) => fault.startsWith('block ') && fault.endsWith('is lost')).length
}

function rewindsOf({ lines }: ClusterGateway): number {
  return lines().filter(({ event }) => event === 'history-rewound').length
}

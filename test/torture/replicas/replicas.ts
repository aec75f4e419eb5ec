import { setTimeout as delay } from 'node:timers/promises'
import { createRandom } from '../../support/random.ts'
import { until } from '../../support/until.ts'
import { untilHealth } from '../../support/wallet.ts'
import { type ClusterGateway, loggedErrors, loggedResets } from '../cluster/gateways.ts'
import { startSubmitters } from '../cluster/submitters.ts'
import { checkRun, type Run, withGateways } from '../gateways-under-load.ts'
import { startSubscribers } from '../subscribers.ts'
import { startOwnWrites } from './own-writes.ts'
import { hostOf, readHostsOf } from './read-hosts.ts'
import { type ReplicaServers, startReplicaServers } from './servers.ts'

/** Runs three gateways under load that read from two replicas: one is late, and the other is paused, promoted and crashed. */

/** The extent of a run. */
export interface ReplicasOptions {
  readonly troubles: readonly Trouble[]
  readonly blocksPerSecond: number
  /** The number of subscribers of the gateways that accept blocks, and again of the gateway that gets none. */
  readonly subscribers: number
  readonly seed: number
  readonly onProgress: (text: string) => void
}

/** A failure of the first replica. */
export type Trouble = 'pause' | 'promote' | 'crash'

/** The result of a run. */
export interface ReplicasReport {
  readonly acknowledged: number
  /** The number of blocks that the acknowledging gateway returned immediately. */
  readonly found: number
  /** The number of requests for such a block that got status 503, or no response in ten seconds. */
  readonly unanswered: number
  /** The time from each failure until the first gateway had left the replica out, in milliseconds. */
  readonly timesMs: readonly number[]
  /** The number of times that reads moved to the first replica, to the late one, and to the primary. */
  readonly moves: readonly [number, number, number]
  readonly rows: number
  readonly deliveries: number
  /** Empty if the run passed. */
  readonly faults: readonly string[]
}

/** Runs the torture. */
export async function tortureReplicas(options: ReplicasOptions): Promise<ReplicasReport> {
  const servers = await startReplicaServers()
  const { primaryUrl, firstUrl, lateUrl } = servers
  return await withGateways({ name: 'replicas', stop: servers.stop }, async (run) => {
    const gateways: ClusterGateway[] = []
    // The last one gets no blocks, so it may read from a replica that is late.
    for (const urls of [[firstUrl], [firstUrl, lateUrl], [lateUrl]]) {
      const env = { DATABASE_URL: primaryUrl, READ_DATABASE_URLS: urls.join() }
      gateways.push(await run.startGateway(env))
    }
    for (const { url } of gateways) await untilHealth(url)
    return await runTroubles({ ...run, servers, gateways }, options)
  })
}

interface Processes extends Run {
  readonly servers: ReplicaServers
  readonly gateways: readonly ClusterGateway[]
}

async function runTroubles(
  { servers, gateways, stopAtEnd }: Processes,
  { troubles, blocksPerSecond, subscribers: count, seed, onProgress }: ReplicasOptions,
): Promise<ReplicasReport> {
  const random = createRandom(seed)
  const [first = '', second = '', last = ''] = gateways.map(({ url }) => url)
  const submitUrls = [first, second] as const
  const submitters = stopAtEnd(
    await startSubmitters({ urls: submitUrls, perSecond: blocksPerSecond, random }),
  )
  const ownWrites = stopAtEnd(startOwnWrites(submitUrls, createRandom(seed + 1)))
  const subscribers = [
    ...startSubscribers(submitUrls, { subscribers: count, seed: seed + 1 }),
    ...startSubscribers([last], { subscribers: count, seed: seed + 1 + count }),
  ].map(stopAtEnd)
  const timesMs: number[] = []
  for (const [i, trouble] of troubles.entries()) {
    await untilReads(gateways[0], servers.firstUrl)
    await delay(random.between(300, 1_500))
    const ms = await causeTrouble(trouble, servers, gateways[0])
    timesMs.push(ms)
    onProgress(`${i + 1}: ${trouble}, left out after ${Math.round(ms)} ms`)
    if (i + 1 < troubles.length) await repair(trouble, servers)
  }
  await submitters.stop()
  await ownWrites.stop()
  const { acknowledged } = submitters
  // Uses the first gateway, because the last one may read from the late replica.
  const databaseUrl = servers.primaryUrl
  const checked = await checkRun({ gatewayUrl: first, databaseUrl, acknowledged, subscribers })
  return {
    acknowledged: acknowledged.length,
    ...checked,
    ...ownWrites.counts,
    timesMs,
    moves: [
      movesTo(gateways, servers.firstUrl),
      movesTo(gateways, servers.lateUrl),
      movesTo(gateways, servers.primaryUrl),
    ],
    faults: [
      ...checked.faults,
      ...submitters.faults,
      ...gateways.flatMap(loggedResets),
      ...ownWrites.faults,
      ...gateways.flatMap((gateway) => loggedErrors(gateway)),
    ],
  }
}

/** Makes a failure, and measures the time until the gateway has left the replica out. */
async function causeTrouble(
  trouble: Trouble,
  servers: ReplicaServers,
  gateway: ClusterGateway | undefined,
): Promise<number> {
  const before = countLeftOut(gateway)
  const start = performance.now()
  if (trouble === 'pause') servers.pause()
  else if (trouble === 'promote') await servers.promote()
  else await servers.crash()
  // The event is logged before the reads have moved.
  const isLeftOut = () =>
    countLeftOut(gateway) > before && lastReadHost(gateway) !== hostOf(servers.firstUrl)
  await until(isLeftOut, { what: `the replica is left out after ${trouble}`, deadlineMs: 60_000 })
  return performance.now() - start
}

/** Resumes the replica after a pause, or replaces it. */
async function repair(trouble: Trouble, servers: ReplicaServers): Promise<void> {
  if (trouble === 'pause') servers.resume()
  else await servers.replace()
}

/** Waits until a gateway reads from a replica. */
async function untilReads(gateway: ClusterGateway | undefined, replicaUrl: string): Promise<void> {
  const isRead = () => lastReadHost(gateway) === hostOf(replicaUrl)
  await until(isRead, { what: 'the gateway reads from the first replica', deadlineMs: 60_000 })
}

function countLeftOut(gateway: ClusterGateway | undefined): number {
  return gateway?.lines().filter(({ event }) => event === 'replica-left-out').length ?? 0
}

function lastReadHost(gateway: ClusterGateway | undefined): string | undefined {
  return gateway === undefined ? undefined : readHostsOf(gateway).at(-1)
}

function movesTo(gateways: readonly ClusterGateway[], url: string): number {
  return gateways.flatMap(readHostsOf).filter((host) => host === hostOf(url)).length
}

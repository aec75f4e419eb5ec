import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createRandom, type Random } from '../../support/random.ts'
import { until } from '../../support/until.ts'
import { untilCommitted, untilHealth } from '../../support/wallet.ts'
import { type ClusterGateway, startClusterGateway } from '../cluster/gateways.ts'
import { startSubmitters } from '../cluster/submitters.ts'
import { judgeDatabase } from '../cluster/verdict.ts'
import { type Listener, startListener } from '../listener.ts'
import { faultsOf, rowsFor, seqIn, type ToldRow } from '../log-rows.ts'
import { startOwnWrites } from './own-writes.ts'
import { type ReplicaServers, startReplicaServers } from './servers.ts'

/** Three gateways under load that read at two replicas, of which one is late, and the other is paused, promoted and killed. */

/** How much. */
export interface ReplicasOptions {
  readonly troubles: readonly Trouble[]
  readonly blocksPerSecond: number
  /** Of the gateways that take blocks, and as many of the one that takes none. */
  readonly listeners: number
  readonly seed: number
  readonly onProgress: (text: string) => void
}

/** What happens to the first replica. */
export type Trouble = 'pause' | 'promote' | 'crash'

/** What was done, and what came of it. */
export interface ReplicasReport {
  readonly acknowledged: number
  /** Blocks that were found at once where they had been acknowledged. */
  readonly found: number
  /** Questions for such a block that were answered 503 or not in ten seconds. */
  readonly unanswered: number
  /** From the trouble until the gateway had left the replica out, in milliseconds. */
  readonly timesMs: readonly number[]
  /** How often reads moved to the first replica, to the late one, and to the primary. */
  readonly moves: readonly [number, number, number]
  readonly rows: number
  readonly deliveries: number
  /** Nothing, where all is well. */
  readonly faults: readonly string[]
}

/** Tortures them. */
export async function tortureReplicas(options: ReplicasOptions): Promise<ReplicasReport> {
  const servers = await startReplicaServers()
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-replicas-'))
  const gateways: ClusterGateway[] = []
  const { primaryUrl, troubledUrl, lateUrl } = servers
  try {
    const env = { KEY_FILE: join(folder, 'test.key'), DRAIN_SECONDS: '0', DATABASE_URL: primaryUrl }
    // The last one takes no blocks: it may read at a replica that is late.
    for (const urls of [[troubledUrl], [troubledUrl, lateUrl], [lateUrl]]) {
      gateways.push(await startClusterGateway({ ...env, READ_DATABASE_URLS: urls.join() }))
    }
    for (const { url } of gateways) await untilHealth(url)
    return await tortured(servers, gateways, options)
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.end()))
    await servers.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function tortured(
  servers: ReplicaServers,
  gateways: readonly ClusterGateway[],
  { troubles, blocksPerSecond, listeners: count, seed, onProgress }: ReplicasOptions,
): Promise<ReplicasReport> {
  const random = createRandom(seed)
  const [first = '', second = '', last = ''] = gateways.map(({ url }) => url)
  const taking = [first, second] as const
  const submitters = await startSubmitters({ urls: taking, perSecond: blocksPerSecond, random })
  const ownWrites = startOwnWrites(taking, createRandom(seed + 1))
  const listeners = Array.from({ length: 2 * count }, (_, i) => {
    const urls = i < count ? taking : ([last] as const)
    return listenerOf(urls, createRandom(seed + 2 + i))
  })
  const timesMs: number[] = []
  for (const [i, trouble] of troubles.entries()) {
    await untilRead(gateways, servers.troubledUrl)
    await delay(random.between(300, 1_500))
    const ms = await meet(trouble, servers, gateways[0])
    timesMs.push(ms)
    onProgress(`${i + 1}: ${trouble}, left out after ${Math.round(ms)} ms`)
    if (i + 1 < troubles.length) await mend(trouble, servers)
  }
  await submitters.stop()
  await ownWrites.stop()
  const { acknowledged } = submitters
  // With what was acknowledged elsewhere, and not at the gateway that reads late.
  await untilCommitted(first, Math.max(0, ...acknowledged.map(({ slot }) => slot)) + 1)
  const { rows, faults } = await judgeDatabase(servers.primaryUrl, acknowledged)
  await heard(listeners, rows)
  await Promise.all(listeners.map((listener) => listener.stop()))
  return {
    acknowledged: acknowledged.length,
    ...ownWrites.counts,
    timesMs,
    moves: [
      movesTo(gateways, servers.troubledUrl),
      movesTo(gateways, servers.lateUrl),
      movesTo(gateways, servers.primaryUrl),
    ],
    rows: rows.length,
    deliveries: listeners.reduce((sum, { history }) => sum + history.length, 0),
    faults: [
      ...faults,
      ...submitters.faults,
      ...ownWrites.faults,
      ...gateways.flatMap(complaints),
      ...listeners.flatMap((listener) => faultsOf(listener, rows)),
    ],
  }
}

/** Gives after how long the gateway had left the replica out. */
async function meet(
  trouble: Trouble,
  servers: ReplicaServers,
  gateway: ClusterGateway | undefined,
): Promise<number> {
  const known = leftOut(gateway)
  const begun = performance.now()
  if (trouble === 'pause') servers.pause()
  else if (trouble === 'promote') await servers.promote()
  else await servers.crash()
  // It says so before the reads have moved.
  const isSeen = () =>
    leftOut(gateway) > known && movesOf(gateway).at(-1) !== hostOf(servers.troubledUrl)
  await until(isSeen, { what: `${trouble} is seen`, deadlineMs: 60_000 })
  return performance.now() - begun
}

/** The replica is back, or another one is in its place. */
async function mend(trouble: Trouble, servers: ReplicaServers): Promise<void> {
  if (trouble === 'pause') servers.resume()
  else await servers.replace()
}

function listenerOf(urls: readonly [string, ...string[]], random: Random): Listener {
  const classes = ['OWNED', 'MENTIONED'] as const
  return startListener({ urls, random, addresses: undefined, classes, after: undefined })
}

/** Waits until a gateway reads at a replica. */
async function untilRead(gateways: readonly ClusterGateway[], replicaUrl: string): Promise<void> {
  const isRead = () => movesOf(gateways[0]).at(-1) === hostOf(replicaUrl)
  await until(isRead, { what: 'the first replica is read', deadlineMs: 60_000 })
}

async function heard(listeners: readonly Listener[], rows: readonly ToldRow[]): Promise<void> {
  for (const listener of listeners) {
    const last = rowsFor(listener, rows).at(-1)?.seq ?? 0
    const what = `a listener has come to position ${last}`
    await until(() => (seqIn(listener.cursor()) ?? 0) >= last, { what, deadlineMs: 120_000 })
  }
}

function leftOut(gateway: ClusterGateway | undefined): number {
  return gateway?.lines().filter(({ event }) => event === 'replica-left-out').length ?? 0
}

function movesOf(gateway: ClusterGateway | undefined): string[] {
  const moves = gateway?.lines().filter(({ event }) => event === 'reads-moved') ?? []
  return moves.map(({ text }) => JSON.parse(text).to.split('/')[0])
}

function movesTo(gateways: readonly ClusterGateway[], url: string): number {
  return gateways.flatMap(movesOf).filter((host) => host === hostOf(url)).length
}

function hostOf(url: string): string {
  return new URL(url).host
}

/** What a gateway says went wrong; that it resets feeds is wrong, too. */
function complaints({ lines, url }: ClusterGateway): string[] {
  return lines()
    .filter(({ level, event }) => level === 'error' || event === 'log-replaced')
    .map(({ text }) => `${url} says ${text.slice(0, 1_000)}`)
}

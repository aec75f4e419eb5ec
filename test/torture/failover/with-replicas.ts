import { setTimeout as delay } from 'node:timers/promises'
import { createRandom, type Random } from '../../support/random.ts'
import { ask } from '../../support/standby.ts'
import { until } from '../../support/until.ts'
import { type ClusterGateway, loggedErrors, loggedResets, urlsOf } from '../cluster/gateways.ts'
import { startSubmitters } from '../cluster/submitters.ts'
import { checkRun, type Run, withGateways } from '../gateways-under-load.ts'
import { startOwnWrites } from '../replicas/own-writes.ts'
import { hostOf, readHostsOf } from '../replicas/read-hosts.ts'
import { startSubscribers } from '../subscribers.ts'
import {
  type FollowingReplicas,
  publishedSlot,
  startFollowingReplicas,
} from './following-replicas.ts'
import { expectedErrors, untilReady } from './readiness.ts'
import { type Servers, startServers } from './servers.ts'
import { startTipWatch } from './tip-watch.ts'

/** Runs three gateways that read from two replicas of a primary, which crashes under load and whose synchronous standby is promoted. */

/** The extent of a run. */
export interface WithReplicasOptions {
  readonly failovers: readonly Failover[]
  readonly blocksPerSecond: number
  readonly subscribers: number
  readonly seed: number
  readonly onProgress: (text: string) => void
}

/**
 * The kind of a failover. The replicas follow the new primary `'at once'`, or `'late'`, after the gateways have left them out; or they
 * are `'ahead'`: they have a slot that the standby never received.
 */
export type Failover = 'at once' | 'late' | 'ahead'

/** The result of a run. */
export interface WithReplicasReport {
  readonly acknowledged: number
  /** The number of blocks that the acknowledging gateway returned immediately. */
  readonly found: number
  /** The number of requests for the newest slot with a response, and without. */
  readonly tips: { readonly read: number; readonly unread: number }
  /** The number of replicas that followed the new primary, and of those that had to be rebuilt. */
  readonly followed: number
  readonly rebuilt: number
  /** The number of slots that a replica had published and the standby lacked when it was promoted. */
  readonly slotsAhead: number
  /** The time from each crash until a block was accepted, in milliseconds. */
  readonly acceptedMs: readonly number[]
  /** The time from each crash until each gateway read from a replica of the new primary, in milliseconds. */
  readonly readMs: readonly number[]
  readonly rows: number
  readonly deliveries: number
  /** Empty if the run passed. */
  readonly faults: readonly string[]
}

/** Runs the torture. */
export async function tortureWithReplicas(
  options: WithReplicasOptions,
): Promise<WithReplicasReport> {
  const servers = await startServers(true)
  let replicas: FollowingReplicas | undefined
  const stop = async () => {
    await replicas?.stop()
    await servers.stop()
  }
  return await withGateways({ name: 'failover', stop }, async (run) => {
    replicas = await startFollowingReplicas(servers.primaryUrl())
    const gateways: ReadingGateway[] = []
    const [proxied, both] = servers.urls
    const [first, second] = replicas.urls
    const databases = [
      { writesTo: proxied, readsFrom: [first, second] },
      { writesTo: both, readsFrom: [second] },
      // All servers, including the primary.
      { writesTo: proxied, readsFrom: [first, second, ...servers.memberUrls] },
    ]
    for (const { writesTo, readsFrom } of databases) {
      const urls = { DATABASE_URL: writesTo, READ_DATABASE_URLS: readsFrom.join() }
      gateways.push({ ...(await run.startGateway({ ...urls, READ_MAX_LAG: '2' })), readsFrom })
    }
    await untilReady(gateways)
    return await runFailovers({ ...run, servers, replicas, gateways }, options)
  })
}

interface ReadingGateway extends ClusterGateway {
  readonly readsFrom: readonly string[]
}

interface Processes extends Run {
  readonly servers: Servers
  readonly replicas: FollowingReplicas
  readonly gateways: readonly ReadingGateway[]
}

async function runFailovers(
  processes: Processes,
  options: WithReplicasOptions,
): Promise<WithReplicasReport> {
  const { servers, gateways, stopAtEnd } = processes
  const random = createRandom(options.seed)
  const urls = urlsOf(gateways)
  const subscribers = startSubscribers(urls, options).map(stopAtEnd)
  const tips = stopAtEnd(startTipWatch(urls))
  const { blocksPerSecond: perSecond } = options
  const submitters = stopAtEnd(await startSubmitters({ urls, perSecond, random }))
  const ownWrites = stopAtEnd(startOwnWrites(urls, createRandom(options.seed - 1)))
  const acceptedMs: number[] = []
  const readMs: number[] = []
  const faults: string[] = []
  let rebuilt = 0
  let slotsAhead = 0
  for (const [i, kind] of options.failovers.entries()) {
    await delay(random.between(500, 2_000))
    const acknowledged = () => submitters.acknowledged.length
    const result = await failOver(processes, { kind, acknowledged, random })
    faults.push(...result.faults)
    acceptedMs.push(result.acceptedMs)
    readMs.push(result.readMs)
    rebuilt += result.rebuilt
    slotsAhead += result.slotsAhead
    const [accepted, read] = [result.acceptedMs, result.readMs].map(Math.round)
    options.onProgress(
      `${i + 1}: ${kind}, a block was accepted after ${accepted} ms, replicas were read after ${read} ms, ${result.rebuilt} rebuilt, ${result.slotsAhead} slots ahead`,
    )
    if (i + 1 < options.failovers.length) await servers.replace()
  }
  await ownWrites.stop()
  await submitters.stop()
  const { acknowledged } = submitters
  const databaseUrl = servers.primaryUrl()
  const checked = await checkRun({ gatewayUrl: urls[0], databaseUrl, acknowledged, subscribers })
  faults.push(...(await tips.check(databaseUrl)))
  return {
    acknowledged: acknowledged.length,
    ...checked,
    found: ownWrites.counts.found,
    tips: tips.counts,
    followed: 2 * options.failovers.length - rebuilt,
    rebuilt,
    slotsAhead,
    acceptedMs,
    readMs,
    faults: [
      ...faults,
      ...checked.faults,
      ...submitters.faults,
      ...ownWrites.faults,
      ...gateways.flatMap((gateway) => loggedErrors(gateway, expectedErrors)),
      ...gateways.flatMap(loggedResets),
    ],
  }
}

interface FailoverOptions {
  readonly kind: Failover
  readonly acknowledged: () => number
  readonly random: Random
}

interface FailoverResult {
  readonly slotsAhead: number
  readonly acceptedMs: number
  readonly readMs: number
  readonly rebuilt: number
  readonly faults: readonly string[]
}

async function failOver(
  { servers, replicas, gateways }: Processes,
  { kind, acknowledged, random }: FailoverOptions,
): Promise<FailoverResult> {
  if (kind === 'ahead') await getReplicasAhead({ servers, replicas }, random)
  const start = performance.now()
  const elapsed = () => performance.now() - start
  let slotsAhead = 0
  const beforePromotion = async () => {
    replicas.follow(undefined)
    const published = await Promise.all(replicas.directUrls().map(publishedSlot))
    slotsAhead = Math.max(0, Math.max(...published) - (await publishedSlot(servers.standbyUrl())))
  }
  await servers.failOver({ beforePromotion })
  const [acceptedMs, areAhead] = await Promise.all([
    untilAccepted(gateways, acknowledged).then(elapsed),
    replicas.areAheadOf(servers.primaryUrl()),
  ])
  if (kind !== 'late') replicas.follow(servers.primaryUrl())
  const faults: string[] = []
  const waitUntilLeftOut = (urls: readonly string[]) =>
    untilLeftOut(gateways, urls).catch((failure) => void faults.push(String(failure)))
  if (kind === 'late') {
    await waitUntilLeftOut(replicas.urls)
    replicas.follow(servers.primaryUrl())
  }
  for (const [i, isAhead] of areAhead.entries()) {
    if (isAhead) {
      await waitUntilLeftOut([replicas.urls[i] ?? ''])
      await replicas.rebuild(i, servers.primaryUrl())
    } else await replicas.untilFollowing(i, servers.primaryUrl())
  }
  await untilReady(gateways)
  await untilReplicasRead(gateways, replicas.urls)
  const rebuilt = areAhead.filter(Boolean).length
  if (kind === 'ahead' && rebuilt === 0) faults.push('no replica was ahead of the standby')
  return { slotsAhead, acceptedMs, readMs: elapsed(), rebuilt, faults }
}

/** Waits until any gateway has accepted one more block. */
async function untilAccepted(
  gateways: readonly ReadingGateway[],
  acknowledged: () => number,
): Promise<void> {
  const count = acknowledged()
  for (const gateway of gateways) {
    if (acknowledged() > count) return
    await untilLogged(gateway, () => acknowledged() > count, 'or another one accepts a block')
  }
}

/**
 * Pauses the replication to the standby until the replicas have published a slot that it lacks (at most eight attempts). Then writes so
 * much that the log of the replicas stays longer than that of the next primary for a while.
 */
async function getReplicasAhead(
  { servers, replicas }: Pick<Processes, 'servers' | 'replicas'>,
  random: Random,
): Promise<void> {
  const [replicaUrl] = replicas.directUrls()
  for (let attempt = 1; ; attempt++) {
    servers.pauseReplication()
    await delay(random.between(200, 600))
    const isAhead = (await publishedSlot(replicaUrl)) > (await publishedSlot(servers.standbyUrl()))
    if (isAhead || attempt === maxAttempts) break
    servers.resumeReplication()
    await delay(random.between(200, 700))
  }
  const message = "pg_logical_emit_message(false, 'torture', repeat('x', 100000))"
  await ask(servers.primaryUrl(), `SELECT count(${message}) FROM generate_series(1, 200)`)
  await replicas.untilBeyond(servers.standbyUrl(), bytesAhead)
}

const maxAttempts = 8
const bytesAhead = 19_000_000

/** Waits until each gateway that reads from these replicas has logged that it leaves them out. */
async function untilLeftOut(
  gateways: readonly ReadingGateway[],
  urls: readonly string[],
): Promise<void> {
  for (const gateway of gateways) {
    for (const url of urls.filter((one) => gateway.readsFrom.includes(one))) {
      await untilLogged(gateway, () => isLeftOut(gateway, url), `leaves ${url} out`)
    }
  }
}

/** Waits until each gateway reads from a replica, and leaves none of these out. */
async function untilReplicasRead(
  gateways: readonly ReadingGateway[],
  urls: readonly string[],
): Promise<void> {
  for (const gateway of gateways) {
    const isRead = () => !urls.some((url) => isLeftOut(gateway, url)) && readsFromReplica(gateway)
    await untilLogged(gateway, isRead, 'reads from a replica')
  }
}

/** Waits for a condition. The error at the deadline has the last lines of the gateway's log. */
async function untilLogged(
  { url, lines }: ClusterGateway,
  isTrue: () => boolean,
  what: string,
): Promise<void> {
  await until(isTrue, { what: `${url} ${what}`, deadlineMs: 120_000 }).catch((failure) => {
    const logged = lines()
      .filter(({ event }) => event !== 'slow-operation' && event !== 'catching-up')
      .map(({ text }) => text.slice(0, 300))
    throw new Error(`${failure}: ${logged.slice(-40).join('\n')}`)
  })
}

/** Whether the last logged event of a replica is that the gateway leaves it out. */
function isLeftOut({ lines }: ClusterGateway, url: string): boolean {
  const events = lines().filter(
    ({ event, text }) =>
      (event === 'replica-left-out' || event === 'replica-used-again') &&
      text.includes(hostOf(url)),
  )
  return events.at(-1)?.event === 'replica-left-out'
}

function readsFromReplica(gateway: ReadingGateway): boolean {
  const host = readHostsOf(gateway).at(-1)
  return host !== undefined && gateway.readsFrom.map(hostOf).includes(host)
}

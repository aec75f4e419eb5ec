import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createRandom, type Random } from '../../support/random.ts'
import { ask } from '../../support/standby.ts'
import { until } from '../../support/until.ts'
import { untilCommitted } from '../../support/wallet.ts'
import { type ClusterGateway, startClusterGateway } from '../cluster/gateways.ts'
import { startSubmitters } from '../cluster/submitters.ts'
import { judgeDatabase } from '../cluster/verdict.ts'
import { faultsOf } from '../log-rows.ts'
import { startOwnWrites } from '../replicas/own-writes.ts'
import { type FollowingReplicas, slotShown, startFollowingReplicas } from './following-replicas.ts'
import { startListeners, told, urlsOf } from './listeners.ts'
import { allWell } from './readiness.ts'
import { type Servers, startServers } from './servers.ts'
import { startTipWatch } from './tip-watch.ts'

/** Three gateways that read at two replicas of a primary that dies under load, and whose synchronous standby takes its place. */

/** How much. */
export interface WithReplicasOptions {
  readonly failovers: readonly Failover[]
  readonly blocksPerSecond: number
  readonly listeners: number
  readonly seed: number
  readonly onProgress: (text: string) => void
}

/**
 * How a failover goes. The replicas follow the new primary `'at once'`, or `'late'`, after the gateways have left them out; or they are
 * `'ahead'`: they have a slot that the standby never received.
 */
export type Failover = 'at once' | 'late' | 'ahead'

/** What was done, and what came of it. */
export interface WithReplicasReport {
  readonly acknowledged: number
  /** Blocks that were found at once where they had been acknowledged. */
  readonly found: number
  /** Questions for the newest slot that were answered, and that were not. */
  readonly tips: { readonly read: number; readonly unread: number }
  /** Replicas that followed the new primary by themselves, and those that could not. */
  readonly followed: number
  readonly rebuilt: number
  /** Slots that a replica showed and the standby did not have when it was promoted. */
  readonly slotsAhead: number
  /** From the crash until a block was taken again, in milliseconds. */
  readonly takenMs: readonly number[]
  /** From the crash until every gateway read at a replica of the new primary. */
  readonly readMs: readonly number[]
  readonly rows: number
  readonly deliveries: number
  /** Nothing, where all is well. */
  readonly faults: readonly string[]
}

/** Tortures them. */
export async function tortureWithReplicas(
  options: WithReplicasOptions,
): Promise<WithReplicasReport> {
  const servers = await startServers(true)
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-failover-'))
  const gateways: ReadingGateway[] = []
  let replicas: FollowingReplicas | undefined
  try {
    replicas = await startFollowingReplicas(servers.primaryUrl())
    const env = { KEY_FILE: join(folder, 'test.key'), DRAIN_SECONDS: '0', READ_MAX_LAG: '2' }
    const [proxied, both] = servers.urls
    const [first, second] = replicas.urls
    const ways = [
      { writesTo: proxied, readsFrom: [first, second] },
      { writesTo: both, readsFrom: [second] },
      // A list of all servers, of which one is the primary.
      { writesTo: proxied, readsFrom: [first, second, ...servers.placeUrls] },
    ]
    for (const { writesTo, readsFrom } of ways) {
      const databases = { DATABASE_URL: writesTo, READ_DATABASE_URLS: readsFrom.join() }
      gateways.push({ ...(await startClusterGateway({ ...env, ...databases })), readsFrom })
    }
    await allWell(gateways)
    return await tortured({ servers, replicas, gateways }, options)
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.end()))
    await replicas?.stop()
    await servers.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

interface ReadingGateway extends ClusterGateway {
  readonly readsFrom: readonly string[]
}

interface Tortured {
  readonly servers: Servers
  readonly replicas: FollowingReplicas
  readonly gateways: readonly ReadingGateway[]
}

async function tortured(on: Tortured, options: WithReplicasOptions): Promise<WithReplicasReport> {
  const { servers, gateways } = on
  const random = createRandom(options.seed)
  const urls = urlsOf(gateways)
  const listeners = startListeners(urls, options)
  const tips = startTipWatch(urls)
  const submitters = await startSubmitters({ urls, perSecond: options.blocksPerSecond, random })
  const ownWrites = startOwnWrites(urls, createRandom(options.seed - 1))
  const takenMs: number[] = []
  const readMs: number[] = []
  const faults: string[] = []
  let rebuilt = 0
  let slotsAhead = 0
  for (const [i, kind] of options.failovers.entries()) {
    await delay(random.between(500, 2_000))
    const isTaken = () => submitters.acknowledged.length
    const passed = await failOver(on, { kind, acknowledged: isTaken, random })
    faults.push(...passed.faults)
    takenMs.push(passed.takenMs)
    readMs.push(passed.readMs)
    rebuilt += passed.rebuilt
    slotsAhead += passed.slotsAhead
    const [taken, read] = [passed.takenMs, passed.readMs].map(Math.round)
    options.onProgress(
      `${i + 1}: ${kind}, a block was taken after ${taken} ms, replicas were read after ${read} ms, ${passed.rebuilt} rebuilt, ${passed.slotsAhead} slots ahead`,
    )
    if (i + 1 < options.failovers.length) await servers.replace()
  }
  await ownWrites.stop()
  await submitters.stop()
  const { acknowledged } = submitters
  await untilCommitted(urls[0], Math.max(0, ...acknowledged.map(({ slot }) => slot)) + 1)
  const verdict = await judgeDatabase(servers.primaryUrl(), acknowledged)
  await told(listeners, verdict.rows)
  await Promise.all(listeners.map((listener) => listener.stop()))
  faults.push(...(await tips.judge(servers.primaryUrl())))
  return {
    acknowledged: acknowledged.length,
    found: ownWrites.counts.found,
    tips: tips.counts,
    followed: 2 * options.failovers.length - rebuilt,
    rebuilt,
    slotsAhead,
    takenMs,
    readMs,
    rows: verdict.rows.length,
    deliveries: listeners.reduce((sum, { history }) => sum + history.length, 0),
    faults: [
      ...faults,
      ...verdict.faults,
      ...submitters.faults,
      ...ownWrites.faults,
      ...gateways.flatMap(complaints),
      ...listeners.flatMap((listener) => faultsOf(listener, verdict.rows)),
    ],
  }
}

interface FailoverOptions {
  readonly kind: Failover
  readonly acknowledged: () => number
  readonly random: Random
}

interface Passed {
  readonly slotsAhead: number
  readonly takenMs: number
  readonly readMs: number
  readonly rebuilt: number
  readonly faults: readonly string[]
}

async function failOver(
  { servers, replicas, gateways }: Tortured,
  { kind, acknowledged, random }: FailoverOptions,
): Promise<Passed> {
  if (kind === 'ahead') await leaveBehind({ servers, replicas }, random)
  const begun = performance.now()
  const since = () => performance.now() - begun
  let slotsAhead = 0
  const beforePromotion = async () => {
    replicas.lead(undefined)
    const shown = await Promise.all(replicas.ownUrls().map(slotShown))
    slotsAhead = Math.max(0, Math.max(...shown) - (await slotShown(servers.standbyUrl())))
  }
  await servers.failOver({ beforePromotion })
  const [takenMs, areAhead] = await Promise.all([
    untilTaken(gateways, acknowledged).then(since),
    replicas.areAheadOf(servers.primaryUrl()),
  ])
  if (kind !== 'late') replicas.lead(servers.primaryUrl())
  const faults: string[] = []
  const named = (urls: readonly string[]) =>
    untilNamed(gateways, urls).catch((failure) => void faults.push(String(failure)))
  if (kind === 'late') {
    await named(replicas.urls)
    replicas.lead(servers.primaryUrl())
  }
  for (const [i, isAhead] of areAhead.entries()) {
    if (isAhead) {
      await named([replicas.urls[i] ?? ''])
      await replicas.rebuild(i, servers.primaryUrl())
    } else await replicas.untilFollowing(i, servers.primaryUrl())
  }
  await allWell(gateways)
  await untilRead(gateways, replicas.urls)
  const rebuilt = areAhead.filter(Boolean).length
  if (kind === 'ahead' && rebuilt === 0) faults.push('no replica was ahead of the standby')
  return { slotsAhead, takenMs, readMs: since(), rebuilt, faults }
}

/** Waits until any gateway has taken one more block. */
async function untilTaken(
  gateways: readonly ReadingGateway[],
  acknowledged: () => number,
): Promise<void> {
  const count = acknowledged()
  for (const gateway of gateways) {
    if (acknowledged() > count) return
    await untilSaid(gateway, () => acknowledged() > count, 'or another takes a block')
  }
}

/**
 * The standby no longer receives what the replicas do, also a slot where the commit of one begins meanwhile, and the replicas come
 * further in the log of the primary than the next primary does in a while.
 */
async function leaveBehind(
  { servers, replicas }: Pick<Tortured, 'servers' | 'replicas'>,
  random: Random,
): Promise<void> {
  const [replicaUrl] = replicas.ownUrls()
  for (let attempt = 1; ; attempt++) {
    servers.starve()
    await delay(random.between(200, 600))
    const isAhead = (await slotShown(replicaUrl)) > (await slotShown(servers.standbyUrl()))
    if (isAhead || attempt === maxAttempts) break
    servers.feed()
    await delay(random.between(200, 700))
  }
  const bytes = "pg_logical_emit_message(false, 'torture', repeat('x', 100000))"
  await ask(servers.primaryUrl(), `SELECT count(${bytes}) FROM generate_series(1, 200)`)
  await replicas.untilBeyond(servers.standbyUrl(), manyBytes)
}

const maxAttempts = 8
const manyBytes = 19_000_000

/** Waits until each gateway that knows these replicas has left them out, and said so. */
async function untilNamed(
  gateways: readonly ReadingGateway[],
  urls: readonly string[],
): Promise<void> {
  for (const gateway of gateways) {
    for (const url of urls.filter((one) => gateway.readsFrom.includes(one))) {
      const isNamed = () => isLeftOut(gateway, url)
      await untilSaid(gateway, isNamed, `leaves ${url} out`)
    }
  }
}

/** Waits until every gateway reads at a replica, and has left none of these out. */
async function untilRead(
  gateways: readonly ReadingGateway[],
  urls: readonly string[],
): Promise<void> {
  for (const gateway of gateways) {
    const isRead = () => !urls.some((url) => isLeftOut(gateway, url)) && readsAtReplica(gateway)
    await untilSaid(gateway, isRead, 'reads at a replica')
  }
}

async function untilSaid(
  { url, lines }: ClusterGateway,
  isSaid: () => boolean,
  what: string,
): Promise<void> {
  await until(isSaid, { what: `${url} ${what}`, deadlineMs: 60_000 }).catch((failure) => {
    const said = lines()
      .filter(({ event }) => event !== 'slow-operation' && event !== 'catching-up')
      .map(({ text }) => text.slice(0, 300))
    throw new Error(`${failure}: ${said.slice(-40).join('\n')}`)
  })
}

/** Whether a gateway has said last of a replica that it is left out. */
function isLeftOut({ lines }: ClusterGateway, url: string): boolean {
  const said = lines().filter(
    ({ event, text }) =>
      (event === 'replica-left-out' || event === 'replica-used-again') &&
      text.includes(hostOf(url)),
  )
  return said.at(-1)?.event === 'replica-left-out'
}

function readsAtReplica({ lines, readsFrom }: ReadingGateway): boolean {
  const last = lines()
    .filter(({ event }) => event === 'reads-moved')
    .at(-1)
  if (last === undefined) return false
  return readsFrom.map(hostOf).includes(JSON.parse(last.text).to.split('/')[0])
}

function hostOf(url: string): string {
  return new URL(url).host
}

/** What a gateway says went wrong, besides that its database was away or could only be read; that it resets feeds is wrong, too. */
function complaints({ lines, url }: ClusterGateway): string[] {
  const expected = ['database-away', 'database-not-writable']
  return lines()
    .filter(({ level, event }) => level === 'error' || event === 'log-replaced')
    .filter(({ event }) => !expected.includes(event))
    .map(({ text }) => `${url} says ${text.slice(0, 1_000)}`)
}

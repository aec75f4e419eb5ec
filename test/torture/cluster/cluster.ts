import { setTimeout as delay } from 'node:timers/promises'
import type { Environment } from '../../../src/config.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { databaseOf } from '../../../src/store/connect.ts'
import { healthOf } from '../../bench/scale/probe.ts'
import { growUnspent } from '../../bench/scale/unspent.ts'
import { startPostgresql } from '../../support/postgresql-server.ts'
import { createRandom, type Random } from '../../support/random.ts'
import { until } from '../../support/until.ts'
import { addressOf, untilCommitted, users } from '../../support/wallet.ts'
import { type Run, withGateways } from '../gateways-under-load.ts'
import { faultsOf } from '../log-rows.ts'
import { type Subscriber, startSubscriber } from '../subscriber.ts'
import { untilCaughtUp } from '../subscribers.ts'
import { checkDatabase } from './check-database.ts'
import { type ClusterGateway, loggedErrors, urlsOf } from './gateways.ts'
import { cutWakeUps, readWriter, type Takeover, timeTakeover, withClient } from './lease.ts'
import { type SubmitCounts, type Submitters, startSubmitters } from './submitters.ts'

/**
 * Runs three gateways on one PostgreSQL while processes and connections fail. Checks that each acknowledged block is booked once, and
 * that each subscriber receives each of its updates once.
 */

/** The extent of a run. */
export interface ClusterOptions {
  /** The number of unspent outputs that the ledger has at the start, in addition to those of its genesis. */
  readonly outputs: number
  readonly kills: number
  readonly pauses: number
  readonly cuts: number
  readonly restarts: number
  /** The minimum number of acknowledged blocks. */
  readonly blocks: number
  readonly blocksPerSecond: number
  readonly subscribers: number
  /** Whether the database waits for its disk, as a production database does. */
  readonly isDurable: boolean
  readonly seed: number
  readonly onProgress: (text: string) => void
}

/** The result of a run. */
export interface ClusterReport extends SubmitCounts {
  readonly acknowledged: number
  readonly payments: number
  readonly rows: number
  readonly deliveries: number
  /** The leader term of the last writer: one plus the number of takeovers. */
  readonly terms: number
  readonly afterKill: readonly Takeover[]
  readonly afterPause: readonly Takeover[]
  /** The time from each restart of the database until all gateways were healthy, in milliseconds. */
  readonly recoveries: readonly number[]
  readonly cuts: number
  /** Empty if the run passed. */
  readonly faults: readonly string[]
}

const gatewayCount = 3

/** Runs the torture on a new database server. */
export async function tortureCluster(options: ClusterOptions): Promise<ClusterReport> {
  const server = await startPostgresql(options.isDurable ? [] : undefined)
  return await withGateways({ name: 'cluster', stop: server.stop }, async (run) => {
    const env = { DATABASE_URL: server.url }
    if (options.outputs > 0) await makeLedger(run, env, options)
    // Concurrently: without a ledger one gateway creates it, and the others wait for it.
    const started = Array.from({ length: gatewayCount }, () => run.startGateway(env))
    const gateways = await Promise.all(started)
    await untilHealthy(gateways)
    return await runDisturbances({ ...run, gateways, server }, options)
  })
}

interface Processes extends Run {
  readonly gateways: readonly ClusterGateway[]
  readonly server: Awaited<ReturnType<typeof startPostgresql>>
}

async function runDisturbances(
  { gateways, server, stopAtEnd }: Processes,
  options: ClusterOptions,
): Promise<ClusterReport> {
  const urls = urlsOf(gateways)
  const random = createRandom(options.seed)
  const { blocksPerSecond: perSecond } = options
  const subscribers = startSubscribers(urls, options).map(stopAtEnd)
  const submitters = stopAtEnd(await startSubmitters({ urls, perSecond, random }))
  const disturbed = await disturb({ gateways, server, random, submitters }, options)
  while (submitters.acknowledged.length < options.blocks) {
    await delay(1_000)
    options.onProgress(`${submitters.acknowledged.length} of ${options.blocks} blocks`)
  }
  await submitters.stop()
  options.onProgress('waiting until all subscribers have received the last block')
  await untilLastCommitted(urls[0], submitters)
  const { rows, faults } = await checkDatabase(server.url, submitters.acknowledged)
  await untilCaughtUp(subscribers, rows, 600_000)
  await Promise.all(subscribers.map((subscriber) => subscriber.stop()))
  const { term } = await withClient(server.url, readWriter)
  await Promise.all(gateways.map((gateway) => gateway.end()))
  return {
    ...disturbed,
    ...submitters.counts,
    acknowledged: submitters.acknowledged.length,
    payments: submitters.acknowledged.filter(({ payment }) => payment !== undefined).length,
    rows: rows.length,
    deliveries: subscribers.reduce((sum, { history }) => sum + history.length, 0),
    terms: term,
    faults: [
      ...faults,
      ...submitters.faults,
      ...gateways.flatMap((gateway) => loggedErrors(gateway, ['database-away'])),
      ...subscribers.flatMap((subscriber, i) =>
        faultsOf(subscriber, rows).map((fault) => `subscriber ${i}: ${fault}`),
      ),
    ],
  }
}

/** Creates a ledger with many unspent outputs, and builds its tries. */
async function makeLedger(
  { startGateway }: Run,
  env: Environment & { readonly DATABASE_URL: string },
  { outputs, onProgress }: ClusterOptions,
): Promise<void> {
  const founder = await startGateway(env)
  await untilHealthy([founder])
  await founder.end()
  onProgress(`adding ${outputs} unspent outputs`)
  const url = env.DATABASE_URL
  const database = await databaseOf({ url, wakeUrl: undefined, log: silentLog })
  if (!database.ok) throw new Error(database.error.code)
  await growUnspent(database.value, outputs)
  await database.value.close()
  onProgress('building the tries')
  await founder.start()
  const isWriter = async () => (await healthOf(founder.url))?.role === 'writer'
  await until(isWriter, { what: 'the tries are built', deadlineMs: 1_800_000 })
  await founder.end()
}

/** Starts subscribers of some addresses. Each changes between transports and gateways, and always continues from its last cursor. */
function startSubscribers(
  urls: readonly [string, ...string[]],
  { subscribers, seed }: ClusterOptions,
): readonly Subscriber[] {
  return Array.from({ length: subscribers }, (_, i) => {
    const random = createRandom(seed + i + 1)
    const chosen = random.shuffled(users).slice(0, random.between(1, 4)).map(addressOf)
    const addresses = i % 3 === 0 ? undefined : chosen
    return startSubscriber({ urls, random, addresses, classes: ['OWNED'], after: undefined })
  })
}

interface Cluster extends Omit<Processes, keyof Run> {
  readonly random: Random
  readonly submitters: Submitters
}

type Disturbance = 'kill' | 'pause' | 'cut' | 'restart'

/** Makes all disturbances of the options in random order, each after all gateways have become healthy again. */
async function disturb(cluster: Cluster, options: ClusterOptions) {
  const { gateways, server, random, submitters } = cluster
  const afterKill: Takeover[] = []
  const afterPause: Takeover[] = []
  const recoveries: number[] = []
  let cuts = 0
  const disturbances = random.shuffled<Disturbance>([
    ...Array.from({ length: options.kills }, () => 'kill' as const),
    ...Array.from({ length: options.pauses }, () => 'pause' as const),
    ...Array.from({ length: options.cuts }, () => 'cut' as const),
    ...Array.from({ length: options.restarts }, () => 'restart' as const),
  ])
  for (const [i, disturbance] of disturbances.entries()) {
    await delay(random.between(200, 1_500))
    const { term, pid } = await withClient(server.url, readWriter)
    const writer = gateways.find((gateway) => gateway.pid() === pid)
    if (writer === undefined) throw new Error(`the writer ${pid} is not one of the gateways`)
    if (disturbance === 'kill') {
      const takeover = timeTakeover(server.url, term)
      await writer.kill()
      afterKill.push(await takeover)
      await writer.start()
    } else if (disturbance === 'pause') {
      writer.pause()
      const paused = delay(random.between(5_000, 7_000))
      afterPause.push(await timeTakeover(server.url, term))
      await paused
      writer.wake()
    } else if (disturbance === 'cut') {
      // A standby is also paused, at an arbitrary moment.
      const standby = gateways.find((gateway) => gateway.pid() !== pid)
      standby?.pause()
      cuts += await cutWakeUps(server.url)
      await delay(random.between(2_500, 4_000))
      standby?.wake()
    } else {
      await server.halt(recoveries.length % 2 === 0 ? 'in order' : 'crash')
      await delay(random.between(500, 2_000))
      await server.resume()
    }
    const begun = performance.now()
    await untilHealthy(gateways)
    if (disturbance === 'restart') recoveries.push(performance.now() - begun)
    const blocks = submitters.acknowledged.length
    options.onProgress(`${i + 1} of ${disturbances.length}: ${disturbance}, ${blocks} blocks`)
  }
  return { afterKill, afterPause, recoveries, cuts }
}

/** Waits until each gateway reports that it is healthy. */
async function untilHealthy(gateways: readonly ClusterGateway[]): Promise<void> {
  for (const { url } of gateways) {
    await until(() => isHealthy(url), { what: `${url} is healthy`, deadlineMs: 120_000 })
  }
}

async function isHealthy(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/health`, { signal: AbortSignal.timeout(2_000) })).ok
  } catch {
    // The gateway is starting or paused.
    return false
  }
}

/** Waits until the last acknowledged block is committed. No rows are added to the log afterwards. */
async function untilLastCommitted(url: string, { acknowledged }: Submitters): Promise<void> {
  const lastSlot = Math.max(...acknowledged.map(({ slot }) => slot))
  await untilCommitted(url, lastSlot + 1)
}

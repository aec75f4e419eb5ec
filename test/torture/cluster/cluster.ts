import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { silentLog } from '../../../src/lib/log.ts'
import { databaseOf } from '../../../src/store/connect.ts'
import { healthOf } from '../../bench/scale/probe.ts'
import { growUnspent } from '../../bench/scale/unspent.ts'
import { startPostgresql } from '../../support/postgresql-server.ts'
import { createRandom, type Random } from '../../support/random.ts'
import { until } from '../../support/until.ts'
import { addressOf, untilCommitted, users } from '../../support/wallet.ts'
import { type Listener, startListener } from '../listener.ts'
import { faultsOf, rowsFor, seqIn, type ToldRow } from '../log-rows.ts'
import { type ClusterGateway, startClusterGateway } from './gateways.ts'
import { cutWakeUps, readWriter, type Takeover, timeTakeover, withClient } from './lease.ts'
import { type SubmitCounts, type Submitters, startSubmitters } from './submitters.ts'
import { judgeDatabase } from './verdict.ts'

/** Three gateways on one PostgreSQL under torture: whatever dies, what was acknowledged is booked once and told to all. */

/** How much. */
export interface ClusterOptions {
  /** Unspent outputs that the ledger has before, besides those of its genesis. */
  readonly outputs: number
  readonly kills: number
  readonly pauses: number
  readonly cuts: number
  readonly restarts: number
  /** The least number of acknowledged blocks. */
  readonly blocks: number
  readonly blocksPerSecond: number
  readonly listeners: number
  /** Whether the database waits for its disk, as one does in earnest. */
  readonly isDurable: boolean
  readonly seed: number
  readonly onProgress: (text: string) => void
}

/** What was done, and what came of it. */
export interface ClusterReport extends SubmitCounts {
  readonly acknowledged: number
  readonly payments: number
  readonly rows: number
  readonly deliveries: number
  /** Of the last writer: one for every takeover, and the first. */
  readonly terms: number
  readonly afterKill: readonly Takeover[]
  readonly afterPause: readonly Takeover[]
  /** From the return of the database until all gateways were well again, in milliseconds. */
  readonly recoveries: readonly number[]
  readonly cuts: number
  /** Nothing, where all is well. */
  readonly faults: readonly string[]
}

const gatewayCount = 3

/** Tortures a cluster on a database server of its own. */
export async function tortureCluster(options: ClusterOptions): Promise<ClusterReport> {
  const server = await startPostgresql(options.isDurable ? [] : undefined)
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-cluster-'))
  const gateways: ClusterGateway[] = []
  try {
    const env = { DATABASE_URL: server.url, KEY_FILE: join(folder, 'test.key'), DRAIN_SECONDS: '0' }
    if (options.outputs > 0) await makeLedger(env, options)
    // All at once: without a ledger one of them founds it, and the others wait for it.
    const started = Array.from({ length: gatewayCount }, () => startClusterGateway(env))
    gateways.push(...(await Promise.all(started)))
    const [first, ...others] = gateways.map(({ url }) => url)
    if (first === undefined) throw new Error('no gateway')
    const urls = [first, ...others] as const
    await allWell(gateways)
    const random = createRandom(options.seed)
    const { blocksPerSecond: perSecond } = options
    const listeners = startListeners(urls, options)
    const submitters = await startSubmitters({ urls, perSecond, random })
    const done = await tamper({ gateways, server, random, submitters }, options)
    while (submitters.acknowledged.length < options.blocks) {
      await delay(1_000)
      options.onProgress(`${submitters.acknowledged.length} of ${options.blocks} blocks`)
    }
    await submitters.stop()
    options.onProgress('waiting for everybody to hear of the last block')
    await committed(first, submitters)
    const { rows, faults } = await judgeDatabase(server.url, submitters.acknowledged)
    await told(listeners, rows)
    await Promise.all(listeners.map((listener) => listener.stop()))
    const { term } = await withClient(server.url, readWriter)
    await Promise.all(gateways.map((gateway) => gateway.end()))
    return {
      ...done,
      ...submitters.counts,
      acknowledged: submitters.acknowledged.length,
      payments: submitters.acknowledged.filter(({ payment }) => payment !== undefined).length,
      rows: rows.length,
      deliveries: listeners.reduce((sum, { history }) => sum + history.length, 0),
      terms: term,
      faults: [
        ...faults,
        ...submitters.faults,
        ...gateways.flatMap(complaints),
        ...listeners.flatMap((listener, i) =>
          faultsOf(listener, rows).map((fault) => `client ${i}: ${fault}`),
        ),
      ],
    }
  } finally {
    for (const gateway of gateways) gateway.wake()
    await Promise.all(gateways.map((gateway) => gateway.end()))
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Founds a ledger of many unspent outputs, and builds its tries. */
async function makeLedger(
  env: { readonly DATABASE_URL: string; readonly KEY_FILE: string },
  { outputs, onProgress }: ClusterOptions,
): Promise<void> {
  const founder = await startClusterGateway(env)
  await allWell([founder])
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

/** Clients that take any door of any gateway, always with the cursor they have. */
function startListeners(
  urls: readonly [string, ...string[]],
  { listeners, seed }: ClusterOptions,
): readonly Listener[] {
  return Array.from({ length: listeners }, (_, i) => {
    const random = createRandom(seed + i + 1)
    const some = random.shuffled(users).slice(0, random.between(1, 4)).map(addressOf)
    const addresses = i % 3 === 0 ? undefined : some
    return startListener({ urls, random, addresses, classes: ['OWNED'], after: undefined })
  })
}

interface Tampering {
  readonly gateways: readonly ClusterGateway[]
  readonly server: Awaited<ReturnType<typeof startPostgresql>>
  readonly random: Random
  readonly submitters: Submitters
}

type Act = 'kill' | 'pause' | 'cut' | 'restart'

/** Does everything that was asked for, in an order by chance, each when the cluster is well again. */
async function tamper(on: Tampering, options: ClusterOptions) {
  const { gateways, server, random, submitters } = on
  const afterKill: Takeover[] = []
  const afterPause: Takeover[] = []
  const recoveries: number[] = []
  let cuts = 0
  const acts = random.shuffled<Act>([
    ...Array.from({ length: options.kills }, () => 'kill' as const),
    ...Array.from({ length: options.pauses }, () => 'pause' as const),
    ...Array.from({ length: options.cuts }, () => 'cut' as const),
    ...Array.from({ length: options.restarts }, () => 'restart' as const),
  ])
  for (const [i, act] of acts.entries()) {
    await delay(random.between(200, 1_500))
    const { term, pid } = await withClient(server.url, readWriter)
    const writer = gateways.find((gateway) => gateway.pid() === pid)
    if (writer === undefined) throw new Error(`the process ${pid} writes, and is none of ours`)
    if (act === 'kill') {
      const takeover = timeTakeover(server.url, term)
      await writer.kill()
      afterKill.push(await takeover)
      await writer.start()
    } else if (act === 'pause') {
      writer.pause()
      const paused = delay(random.between(5_000, 7_000))
      afterPause.push(await timeTakeover(server.url, term))
      await paused
      writer.wake()
    } else if (act === 'cut') {
      // And a member stops in the middle of whatever it holds.
      const member = gateways.find((gateway) => gateway.pid() !== pid)
      member?.pause()
      cuts += await cutWakeUps(server.url)
      await delay(random.between(2_500, 4_000))
      member?.wake()
    } else {
      await server.halt(recoveries.length % 2 === 0 ? 'in order' : 'crash')
      await delay(random.between(500, 2_000))
      await server.resume()
    }
    const begun = performance.now()
    await allWell(gateways)
    if (act === 'restart') recoveries.push(performance.now() - begun)
    const blocks = submitters.acknowledged.length
    options.onProgress(`${i + 1} of ${acts.length}: ${act}, ${blocks} blocks`)
  }
  return { afterKill, afterPause, recoveries, cuts }
}

/** Waits until every gateway says that it is well. */
async function allWell(gateways: readonly ClusterGateway[]): Promise<void> {
  for (const { url } of gateways) {
    await until(() => isWell(url), { what: `${url} is well`, deadlineMs: 120_000 })
  }
}

async function isWell(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/health`, { signal: AbortSignal.timeout(2_000) })).ok
  } catch {
    // It is about to come, or to go on.
    return false
  }
}

/** Waits until the last block is committed; nothing joins the log afterwards. */
async function committed(url: string, { acknowledged }: Submitters): Promise<void> {
  const lastSlot = Math.max(...acknowledged.map(({ slot }) => slot))
  await untilCommitted(url, lastSlot + 1)
}

/** Waits until every client has heard of the last row that it follows. */
async function told(listeners: readonly Listener[], rows: readonly ToldRow[]): Promise<void> {
  for (const listener of listeners) {
    const last = rowsFor(listener, rows).at(-1)?.seq ?? 0
    const what = `a listener has come to position ${last}`
    await until(() => (seqIn(listener.cursor()) ?? 0) >= last, { what, deadlineMs: 600_000 })
  }
}

/** What a gateway says went wrong, besides that its database was away. */
function complaints({ lines, url }: ClusterGateway): string[] {
  return lines()
    .filter(({ level, event }) => level === 'error' && event !== 'database-away')
    .map(({ text }) => `${url} says ${text.slice(0, 1_000)}`)
}

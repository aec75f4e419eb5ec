import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { restore } from '../../../src/cli/restore.ts'
import { createRandom } from '../../support/random.ts'
import { runCommand } from '../../support/run-command.ts'
import { until } from '../../support/until.ts'
import { untilCommitted } from '../../support/wallet.ts'
import { type ClusterGateway, startClusterGateway } from '../cluster/gateways.ts'
import { type Acknowledged, startSubmitters } from '../cluster/submitters.ts'
import { judgeDatabase } from '../cluster/verdict.ts'
import type { Listener } from '../listener.ts'
import { faultsOf, type ToldRow } from '../log-rows.ts'
import { startListeners, told, urlsOf } from './listeners.ts'
import { allWell, readiness } from './readiness.ts'
import { type Servers, startServers } from './servers.ts'

/** Two gateways on a PostgreSQL whose primary dies under load again and again, and whose standby takes its place. */

/** How much. */
export interface FailoverOptions {
  readonly failovers: number
  readonly isSynchronous: boolean
  readonly blocksPerSecond: number
  readonly listeners: number
  readonly seed: number
  readonly onProgress: (text: string) => void
}

/** What was done, and what came of it. */
export interface FailoverReport {
  readonly acknowledged: number
  /** Acknowledged and gone, where the standby is not waited for. */
  readonly lost: number
  /** From the crash until a block was taken again, in milliseconds; with an asynchronous standby, until both gateways had said that something is lost. */
  readonly timesMs: readonly number[]
  readonly rows: number
  readonly deliveries: number
  /** Nothing, where all is well. */
  readonly faults: readonly string[]
}

/** Tortures a synchronous pair, or an asynchronous one whose standby is starved before each failover. */
export async function tortureFailover(options: FailoverOptions): Promise<FailoverReport> {
  const servers = await startServers(options.isSynchronous)
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-failover-'))
  const gateways: ClusterGateway[] = []
  try {
    const env = { KEY_FILE: join(folder, 'test.key'), DRAIN_SECONDS: '0' }
    for (const url of servers.urls) {
      gateways.push(await startClusterGateway({ ...env, DATABASE_URL: url }))
    }
    await allWell(gateways)
    return await (options.isSynchronous ? keepsAll : isNeverSilent)({ servers, gateways }, options)
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.end()))
    await servers.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Tortured {
  readonly servers: Servers
  readonly gateways: readonly ClusterGateway[]
}

/** Every acknowledged block is there, and every follower's history is the log. */
async function keepsAll(on: Tortured, options: FailoverOptions): Promise<FailoverReport> {
  const { servers, gateways } = on
  const random = createRandom(options.seed)
  const urls = urlsOf(gateways)
  const listeners = startListeners(urls, options)
  const submitters = await startSubmitters({ urls, perSecond: options.blocksPerSecond, random })
  const timesMs: number[] = []
  for (let i = 1; i <= options.failovers; i++) {
    await delay(random.between(500, 2_000))
    const begun = performance.now()
    await servers.failOver()
    const { length } = submitters.acknowledged
    await until(() => submitters.acknowledged.length > length, { deadlineMs: 120_000 })
    timesMs.push(performance.now() - begun)
    await allWell(gateways)
    options.onProgress(`${i}: a block was taken after ${Math.round(timesMs.at(-1) ?? 0)} ms`)
    if (i < options.failovers) await servers.replace()
  }
  await submitters.stop()
  const { rows, faults } = await judged(on, submitters.acknowledged)
  await told(listeners, rows)
  await Promise.all(listeners.map((listener) => listener.stop()))
  return {
    ...summary(listeners, rows, submitters.acknowledged),
    lost: 0,
    timesMs,
    faults: [
      ...faults,
      ...submitters.faults,
      ...gateways.flatMap(complaints),
      ...listeners.flatMap((listener) => faultsOf(listener, rows)),
    ],
  }
}

/** Whenever something is lost, each gateway says so, and writes nothing until that is accepted. */
async function isNeverSilent(on: Tortured, options: FailoverOptions): Promise<FailoverReport> {
  const { servers, gateways } = on
  const random = createRandom(options.seed)
  const urls = urlsOf(gateways)
  const faults: string[] = []
  const timesMs: number[] = []
  let lost = 0
  let known = 0
  let listeners: readonly Listener[] = []
  const submitters = await startSubmitters({ urls, perSecond: options.blocksPerSecond, random })
  for (let i = 1; i <= options.failovers; i++) {
    servers.starve()
    const before = submitters.acknowledged.length
    await until(() => submitters.acknowledged.length >= before + 10, { deadlineMs: 60_000 })
    const begun = performance.now()
    await servers.failOver()
    const isSaid = () => gateways.every((gateway) => rewindsOf(gateway) === i)
    await until(isSaid, { what: 'each gateway says what is lost', deadlineMs: 60_000 })
    timesMs.push(performance.now() - begun)
    for (const { url } of gateways) {
      const { status, reason } = await readiness(url)
      if (status !== 503 || reason !== 'history rewound') {
        faults.push(`${url} is ${status} (${reason})`)
      }
    }
    known = submitters.acknowledged.length
    // Whatever is sent now is refused, and sent again by its client.
    await delay(500)
    if (submitters.acknowledged.length > known) faults.push('a block was taken before the loss was')
    const { faults: gone } = await judgeDatabase(servers.primaryUrl(), submitters.acknowledged)
    lost = gone.filter((fault) => fault.startsWith('block ') && fault.endsWith('is lost')).length
    options.onProgress(`${i}: said after ${Math.round(timesMs.at(-1) ?? 0)} ms, ${lost} lost`)
    await runCommand(restore, ['--accept'], { env: { DATABASE_URL: servers.primaryUrl() } })
    await allWell(gateways)
    if (i === options.failovers) listeners = startListeners(urls, options)
    await until(() => submitters.acknowledged.length >= known + 20, { deadlineMs: 60_000 })
    if (i < options.failovers) await servers.replace()
  }
  await submitters.stop()
  if (lost === 0) faults.push('nothing was lost: too little to say anything')
  // What was created before and is lost can be spent no more, though its clients try to.
  const { rows, faults: wrong } = await judged(on, submitters.acknowledged.slice(known), 'MAYBE')
  await told(listeners, rows)
  await Promise.all(listeners.map((listener) => listener.stop()))
  return {
    ...summary(listeners, rows, submitters.acknowledged),
    lost,
    timesMs,
    faults: [...faults, ...wrong, ...listeners.flatMap((listener) => faultsOf(listener, rows))],
  }
}

/** Judges the log when everything that was acknowledged is committed. */
async function judged(
  { servers, gateways }: Tortured,
  acknowledged: readonly Acknowledged[],
  areCoinsLost: 'NO' | 'MAYBE' = 'NO',
) {
  const lastSlot = Math.max(0, ...acknowledged.map(({ slot }) => slot))
  await untilCommitted(urlsOf(gateways)[0], lastSlot + 1)
  return judgeDatabase(servers.primaryUrl(), acknowledged, areCoinsLost)
}

function summary(
  listeners: readonly Listener[],
  rows: readonly ToldRow[],
  acknowledged: readonly Acknowledged[],
) {
  const deliveries = listeners.reduce((sum, { history }) => sum + history.length, 0)
  return { acknowledged: acknowledged.length, rows: rows.length, deliveries }
}

function rewindsOf({ lines }: ClusterGateway): number {
  return lines().filter(({ event }) => event === 'history-rewound').length
}

/** What a gateway says went wrong, besides that its database was away or could only be read. */
function complaints({ lines, url }: ClusterGateway): string[] {
  const expected = ['database-away', 'database-not-writable']
  return lines()
    .filter(({ level, event }) => level === 'error' && !expected.includes(event))
    .map(({ text }) => `${url} says ${text.slice(0, 1_000)}`)
}

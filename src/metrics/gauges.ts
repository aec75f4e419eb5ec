import { Counter, Gauge, type Registry } from 'prom-client'
import type { TransportLoad } from '../api/http/http.ts'
import { joined } from '../lib/shared-read.ts'
import type { SignatureChecker } from '../node/signatures.ts'
import { followingStates, startingSteps } from '../node/source.ts'
import { type Health, healthReasonCodes, readHealth } from '../service/network/health.ts'
import type { Services } from '../service/services.ts'
import { replicaStates } from '../store/contract/replica.ts'
import type { Store } from '../store/contract.ts'

/** Metrics that are read from the gateway on each scrape. They cost nothing between two scrapes. */

/** The parts of the gateway that the gauges read. */
export interface GaugeSources {
  readonly services: Pick<Services, 'store' | 'source' | 'feed' | 'parameters' | 'version'>
  readonly store: Pick<Store, 'load' | 'isShared'>
  readonly signatures: Pick<SignatureChecker, 'counts'>
  /** Returns the open connections by transport, and the subscriptions on all of them. */
  readonly transports: () => TransportLoad
  readonly isStopping: () => boolean
}

type Labels = Readonly<Record<string, string>>
type Reading = readonly (readonly [Labels, number])[]

/** Registers the gauges of a gateway that is ready. */
export function registerGauges(registry: Registry, sources: GaugeSources): void {
  const add = addTo(registry)
  addLedger(add, sources)
  addFeeds(add, sources)
  addWork(add, sources)
  addReplicas(add, sources)
}

/** Registers the gauges of the health. Until the returned function is called, it is that of a gateway that starts. */
export function registerHealth(registry: Registry): (sources: GaugeSources) => void {
  const add = addTo(registry)
  let health: () => Promise<Pick<Health, 'isHealthy' | 'reasons'>> = async () => starting
  add('healthy', '1 while /health/ready returns 200.', [], async () =>
    one((await health()).isHealthy),
  )
  add('not_ready', '1 for each reason why /health/ready returns 503.', ['reason'], async () => {
    const { reasons } = await health()
    return healthReasonCodes.map((reason) => [{ reason }, Number(reasons.includes(reason))])
  })
  return ({ services, isStopping }) => {
    // One read, so that all gauges of one scrape agree.
    health = joined(() => readHealth(services, { isStopping: isStopping() }))
  }
}

const starting = { isHealthy: false, reasons: ['STARTING'] } as const

/** Returns a function that registers one gauge. */
function addTo(registry: Registry): Add {
  return (name, help, labelNames, read) => {
    const metric = new (name.endsWith('_total') ? Counter : Gauge)({
      name: `ledger_gateway_${name}`,
      help,
      labelNames,
      registers: [registry],
      collect: async () => {
        const values = await read()
        metric.reset()
        // A metric without labels would otherwise have the value 0.
        if (labelNames.length === 0) metric.remove()
        for (const [labels, value] of values) metric.inc(labels, value)
      },
    })
  }
}

type Add = (
  name: string,
  help: string,
  labelNames: string[],
  read: () => Reading | Promise<Reading>,
) => void

const one = (value: number | boolean): Reading => [[{}, Number(value)]]

/** Returns 1 for the current value of a set, and 0 for all other values. */
function oneOf(label: string, all: readonly string[], present: string | undefined): Reading {
  return all.map((value) => [{ [label]: value }, Number(value === present)])
}

function addLedger(add: Add, { services, store }: GaugeSources): void {
  const { source, parameters, version } = services
  const database = store.isShared ? 'postgresql' : 'sqlite'
  const ledger = source.node === undefined ? 'embedded' : 'upstream'
  add(
    'info',
    'Always 1; the labels describe the program.',
    ['version', 'database', 'ledger'],
    () => [[{ version, database, ledger }, 1]],
  )
  add('writer', '1 while this process books blocks and commits slots.', [], () =>
    one(source.status().role === 'WRITER'),
  )
  add('lease_term', 'Term of the lease; it rises when a process takes the lease.', [], () =>
    one(source.status().term),
  )
  add('slot', 'Current slot by the clock, and newest committed slot.', ['of'], () => {
    const { slot, latestCommittedSlot } = source.status()
    return [
      [{ of: 'clock' }, slot],
      [{ of: 'committed' }, latestCommittedSlot],
    ]
  })
  add('slots_behind', 'Slots that are due for commitment and not committed yet.', [], () => {
    const { slot, latestCommittedSlot } = source.status()
    return one(Math.max(0, slot - parameters.minCommittableAge - latestCommittedSlot))
  })
  add(
    'starting',
    '1 for the current step of the start, before this process writes.',
    ['step'],
    () => oneOf('step', startingSteps, source.status().starting?.step),
  )
  addUpstream(add, source)
}

function addUpstream(add: Add, source: Services['source']): void {
  const following = () => source.status().following
  add('upstream_state', '1 for the current state of following the upstream node.', ['state'], () =>
    following() === undefined ? [] : oneOf('state', followingStates, following()?.state),
  )
  add('upstream_newest_slot', 'Newest slot of the node that can be followed.', [], () => {
    const newest = following()?.newestSlot
    return newest === undefined ? [] : one(newest)
  })
  add('upstream_node_healthy', '1 while the node reports itself as healthy.', [], () => {
    const status = following()
    // A standby does not ask the node.
    return status === undefined || status.state === 'STANDBY' ? [] : one(status.isNodeHealthy)
  })
}

function addFeeds(add: Add, { services: { feed }, transports }: GaugeSources): void {
  add('connections', 'Open long-lived connections.', ['transport'], () => {
    const { websocket, eventStream, mqtt } = transports()
    return [
      [{ transport: 'websocket' }, websocket],
      [{ transport: 'event-stream' }, eventStream],
      [{ transport: 'mqtt' }, mqtt],
    ]
  })
  add('subscriptions', 'Open subscriptions of all kinds, and pending long-poll requests.', [], () =>
    one(transports().subscriptions),
  )
  add('followers', 'Open feeds of ledger updates.', ['transport', 'state'], () =>
    feed.hub.followers().map(({ transport, isLive, count }) => {
      return [{ transport, state: isLive ? 'live' : 'catching-up' }, count]
    }),
  )
  add('feed_streams', 'Executions that the live feeds share.', [], () =>
    one(feed.hub.counts().streams),
  )
  add('log_position', 'Position of the newest log row that the feeds know.', [], () =>
    one(feed.tail.tip().seq),
  )
  add(
    'feed_pages_total',
    'Feed pages read from the ring in memory, or from the database below it.',
    ['from'],
    () => {
      const { inRing, belowRing } = feed.tail.counts()
      return [
        [{ from: 'ring' }, inRing],
        [{ from: 'below' }, belowRing],
      ]
    },
  )
  add('log_reads_total', 'Log reads for the feeds.', ['of'], () => {
    const { tipReads, rowReads } = feed.tail.counts()
    return [
      [{ of: 'tip' }, tipReads],
      [{ of: 'rows' }, rowReads],
    ]
  })
}

function addWork(add: Add, { services: { source }, store, signatures }: GaugeSources): void {
  add('inbox_blocks', 'Accepted blocks that are not written to disk yet.', [], () =>
    one(source.waiting()),
  )
  add('signature_checks_total', 'Checked signatures by checker.', ['checker'], () => {
    const { byFastCheck, byFallback } = signatures.counts()
    return [
      [{ checker: 'fast' }, byFastCheck],
      [{ checker: 'fallback' }, byFallback],
    ]
  })
  add('signature_queue', 'Signatures that wait for the fallback check.', [], () =>
    one(signatures.counts().waiting),
  )
  add('store_writes', 'Database writes that run or wait.', [], () => one(store.load().writes))
  add(
    'store_snapshots',
    'Queries that hold a database snapshot, or wait for one.',
    ['state'],
    () => {
      const { held, waiting } = store.load().snapshots
      return [
        [{ state: 'held' }, held],
        [{ state: 'waiting' }, waiting],
      ]
    },
  )
  add('store_connections', 'Connections of the read pool, on PostgreSQL.', ['state'], () => {
    const { pool } = store.load()
    if (pool === undefined) return []
    return [
      [{ state: 'busy' }, pool.open - pool.idle],
      [{ state: 'idle' }, pool.idle],
    ]
  })
  add('store_connection_waits', 'Reads that wait for a connection, on PostgreSQL.', [], () => {
    const { pool } = store.load()
    return pool === undefined ? [] : one(pool.waiting)
  })
}

function addReplicas(add: Add, { services: { store } }: GaugeSources): void {
  const replicas = () => store.replicas()?.replicas ?? []
  add('replicas', '1 for the current state of each read replica.', ['replica', 'state'], () =>
    replicas().flatMap(({ name: replica, state }) =>
      replicaStates.map((other) => [{ replica, state: other }, Number(other === state)] as const),
    ),
  )
  add(
    'replica_lag_seconds',
    'Age of the oldest data on the primary that a read replica lacks.',
    ['replica'],
    () => replicas().map(({ name: replica, lagMs }) => [{ replica }, lagMs / 1_000] as const),
  )
}

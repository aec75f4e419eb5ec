import { Counter, Gauge, type Registry } from 'prom-client'
import type { TransportLoad } from '../api/http.ts'
import type { SignatureChecker } from '../node/signatures.ts'
import { followingStates, startingSteps } from '../node/source.ts'
import { type Health, healthReasonCodes, readHealth } from '../service/network/health.ts'
import type { Services } from '../service/services.ts'
import type { Store } from '../store/contract.ts'
import { replicaStates } from '../store/replica-contract.ts'

/** What is read from the gateway when its metrics are asked for; between two readings it costs nothing. */

/** What they are read from. */
export interface GaugeSources {
  readonly services: Pick<Services, 'store' | 'source' | 'feed' | 'parameters' | 'version'>
  readonly store: Pick<Store, 'load' | 'isShared'>
  readonly signatures: Pick<SignatureChecker, 'counts'>
  /** Open connections by transport, and subscriptions on all of them. */
  readonly transports: () => TransportLoad
  readonly isStopping: () => boolean
}

type Labels = Readonly<Record<string, string>>
type Reading = readonly (readonly [Labels, number])[]

/** Registers them. */
export function registerGauges(registry: Registry, sources: GaugeSources): void {
  const add = (
    name: string,
    help: string,
    labelNames: string[],
    read: () => Reading | Promise<Reading>,
  ) => {
    const metric = new (name.endsWith('_total') ? Counter : Gauge)({
      name: `ledger_gateway_${name}`,
      help,
      labelNames,
      registers: [registry],
      collect: async () => {
        const values = await read()
        metric.reset()
        for (const [labels, value] of values) metric.inc(labels, value)
      },
    })
  }
  addLedger(add, sources)
  addFeeds(add, sources)
  addWork(add, sources)
  addReplicas(add, sources)
}

type Add = (
  name: string,
  help: string,
  labelNames: string[],
  read: () => Reading | Promise<Reading>,
) => void

const one = (value: number | boolean): Reading => [[{}, Number(value)]]

/** 1 for the present value of several, and 0 for the others. */
function oneOf(label: string, all: readonly string[], present: string | undefined): Reading {
  return all.map((value) => [{ [label]: value }, Number(value === present)])
}

function addLedger(add: Add, { services, store, isStopping }: GaugeSources): void {
  const { source, parameters, version } = services
  const database = store.isShared ? 'postgresql' : 'sqlite'
  const ledger = source.node === undefined ? 'embedded' : 'upstream'
  add('info', 'The program: always 1.', ['version', 'database', 'ledger'], () => [
    [{ version, database, ledger }, 1],
  ])
  const health = shareReads(() => readHealth(services, { isStopping: isStopping() }))
  add('healthy', '1 while /health/ready answers 200.', [], async () =>
    one((await health()).isHealthy),
  )
  add('not_ready', '1 for each reason why /health/ready answers 503.', ['reason'], async () => {
    const { reasons } = await health()
    return healthReasonCodes.map((reason) => [{ reason }, Number(reasons.includes(reason))])
  })
  add('writer', '1 while this process books and commits.', [], () =>
    one(source.status().role === 'WRITER'),
  )
  add('lease_term', 'Rises whenever another process takes over.', [], () =>
    one(source.status().term),
  )
  add('slot', 'The slot of the clock, and the newest committed one.', ['of'], () => {
    const { slot, latestCommittedSlot } = source.status()
    return [
      [{ of: 'clock' }, slot],
      [{ of: 'committed' }, latestCommittedSlot],
    ]
  })
  add('slots_behind', 'Slots that could be committed by now, and are not.', [], () => {
    const { slot, latestCommittedSlot } = source.status()
    return one(Math.max(0, slot - parameters.minCommittableAge - latestCommittedSlot))
  })
  add('starting', '1 for what this process does before it writes.', ['step'], () =>
    oneOf('step', startingSteps, source.status().starting?.step),
  )
  addUpstream(add, source)
}

/** One read for all who ask while it is under way: the gauges of one scrape say the same. */
function shareReads(read: () => Promise<Health>): () => Promise<Health> {
  let underWay: Promise<Health> | undefined
  return () => {
    underWay ??= read().finally(() => {
      underWay = undefined
    })
    return underWay
  }
}

function addUpstream(add: Add, source: Services['source']): void {
  const following = () => source.status().following
  add('upstream_state', '1 for the state of following nodes.', ['state'], () =>
    following() === undefined ? [] : oneOf('state', followingStates, following()?.state),
  )
  add('upstream_newest_slot', 'The newest slot of the node that can be followed.', [], () => {
    const newest = following()?.newestSlot
    return newest === undefined ? [] : one(newest)
  })
  add('upstream_node_healthy', '1 while the node reports itself as healthy.', [], () => {
    const status = following()
    return status === undefined ? [] : one(status.isNodeHealthy)
  })
}

function addFeeds(add: Add, { services: { feed }, transports }: GaugeSources): void {
  add('connections', 'Open connections that stay.', ['transport'], () => {
    const { websocket, eventStream, mqtt } = transports()
    return [
      [{ transport: 'websocket' }, websocket],
      [{ transport: 'event-stream' }, eventStream],
      [{ transport: 'mqtt' }, mqtt],
    ]
  })
  add(
    'subscriptions',
    'Open subscriptions of all kinds, and requests that wait for news.',
    [],
    () => one(transports().subscriptions),
  )
  add('followers', 'Feeds of ledger updates.', ['transport', 'state'], () =>
    feed.share.followers().map(({ transport, isLive, count }) => {
      return [{ transport, state: isLive ? 'live' : 'catching-up' }, count]
    }),
  )
  add('feed_streams', 'Executions that the live feeds share.', [], () =>
    one(feed.share.counts().streams),
  )
  add('log_position', 'The newest row of the log that the feeds know.', [], () =>
    one(feed.tail.tip().seq),
  )
  add(
    'feed_pages_total',
    'Pages of feeds, read from the ring in memory or below it.',
    ['from'],
    () => {
      const { inRing, belowRing } = feed.tail.counts()
      return [
        [{ from: 'ring' }, inRing],
        [{ from: 'below' }, belowRing],
      ]
    },
  )
  add('log_reads_total', 'Reads of the log for the feeds.', ['of'], () => {
    const { looks, reads } = feed.tail.counts()
    return [
      [{ of: 'tip' }, looks],
      [{ of: 'rows' }, reads],
    ]
  })
}

function addWork(add: Add, { services: { source }, store, signatures }: GaugeSources): void {
  add('inbox_blocks', 'Blocks that wait for the disk.', [], () => one(source.waiting()))
  add('signature_checks_total', 'Signatures checked, by what checked them.', ['checker'], () => {
    const { byOpenSsl, byFallback } = signatures.counts()
    return [
      [{ checker: 'openssl' }, byOpenSsl],
      [{ checker: 'fallback' }, byFallback],
    ]
  })
  add('signature_queue', 'Signatures that wait for the second check.', [], () =>
    one(signatures.counts().waiting),
  )
  add('store_writes', 'Writing calls of the database under way or waiting.', [], () =>
    one(store.load().writes),
  )
  add(
    'store_snapshots',
    'Queries that hold a snapshot of the database, or wait for one.',
    ['state'],
    () => {
      const { held, waiting } = store.load().snapshots
      return [
        [{ state: 'held' }, held],
        [{ state: 'waiting' }, waiting],
      ]
    },
  )
  add('store_connections', 'Connections of the pool for reads, on PostgreSQL.', ['state'], () => {
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
  add('replicas', 'Read replicas: 1 for the state of each.', ['replica', 'state'], () =>
    replicas().flatMap(({ name: replica, state }) =>
      replicaStates.map((other) => [{ replica, state: other }, Number(other === state)] as const),
    ),
  )
  add(
    'replica_lag_seconds',
    'For how long the primary has had what a read replica lacks.',
    ['replica'],
    () => replicas().map(({ name: replica, lagMs }) => [{ replica }, lagMs / 1_000] as const),
  )
}

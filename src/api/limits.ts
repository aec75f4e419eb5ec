import type { Log } from '../lib/log.ts'
import { createOutage, type Outage } from '../lib/outage.ts'
import { mostQueryMs } from '../service/network/query-time.ts'
import type { LimitError } from './api-errors.ts'
import { createUnderWay, type UnderWay, type UnderWayLimits } from './graphql/under-way.ts'
import { roundMs } from './heartbeat.ts'

/** Limits on connections and subscriptions; what exceeds one is refused before any work is done for it. */

/** The limits of one process. */
export interface TransportLimits extends UnderWayLimits {
  /** Open WebSockets and event streams. A process has a bounded number of file handles. */
  readonly connections: number
  /** Subscriptions of all connections. */
  readonly subscriptions: number
  /** Subscriptions of one WebSocket. */
  readonly subscriptionsPerConnection: number
  /** A connection that gives no sign of life from one probe to the next is cut; milliseconds between two. */
  readonly heartbeatMs: number
  /** A request must arrive within this time, or its connection is cut, in milliseconds. */
  readonly requestMs: number
  /** A query that goes on for longer is ended, in milliseconds. */
  readonly queryMs: number
  /** A connection whose pending writes make no progress for this time is cut, in milliseconds. */
  readonly stalledWriteMs: number
  /** Beyond this mean delay of the event loop requests are refused, in milliseconds; 0 for never. */
  readonly loopDelayMs: number
  /** Bytes of the disk of a SQLite file that are to be free for new blocks to be taken. */
  readonly minFreeDisk: number
  /** Bytes of the database beyond which no new blocks are taken; `undefined` for no limit. */
  readonly maxDatabaseSize: number | undefined
  /** What one client may do of what all share. */
  readonly client: ClientLimits
}

/** The limits of one client: the holder of a token, or an address. */
export interface ClientLimits {
  /** What it may spend a second on average, in units of cost. */
  readonly costPerSecond: number
  /** Its open WebSockets and event streams. */
  readonly connections: number
  /** Its subscriptions on all of them, and its long polls. */
  readonly subscriptions: number
  /** How many blocks the node signs for it a day around bare payloads. */
  readonly payloadsPerDay: number
  /** Bytes of blocks that it may add to the database a day. */
  readonly bytesPerDay: number
}

/** On the development network a client may use all that the process can do, for all its clients are trusted. */
export const developmentClientLimits: ClientLimits = {
  costPerSecond: 10_000_000,
  connections: 19_500,
  subscriptions: 100_000,
  payloadsPerDay: 1_000_000,
  bytesPerDay: 16 * 1024 ** 3,
}

/** On other networks half a core by the estimates, which are mostly far above what is really spent. */
export const usualClientLimits: ClientLimits = {
  costPerSecond: 50_000,
  connections: 200,
  subscriptions: 2_000,
  // The node pays for them.
  payloadsPerDay: 0,
  bytesPerDay: 256 * 1024 ** 2,
}

/** That of `loopDelayMs` on other networks than that of development. */
export const usualLoopDelayMs = 1_000

/** The limits of a gateway without settings, on the development network. */
export const defaultLimits: TransportLimits = {
  connections: 19_500,
  subscriptions: 100_000,
  subscriptionsPerConnection: 100,
  heartbeatMs: roundMs,
  requestMs: 60_000,
  queryMs: mostQueryMs,
  stalledWriteMs: 60_000,
  // Others may have the machine meanwhile, and a developer waits rather than to be refused.
  loopDelayMs: 10_000,
  minFreeDisk: 256 * 1024 ** 2,
  maxDatabaseSize: undefined,
  client: developmentClientLimits,
  operations: 1_000,
  // Eight of the longest.
  heldBytes: 134_217_728,
}

/** Counts what is open. */
export interface Occupancy {
  readonly limits: TransportLimits
  connections: number
  subscriptions: number
  /** Of each client that has any open, by its name. */
  readonly byClient: Map<string, OfClient>
  readonly underWay: UnderWay
  /** Whether the gateway is about to stop; it serves until `draining` fires. */
  isStopping: boolean
  /** Whether there is too much to do for more requests of anyone but the operator. */
  readonly isOverloaded: () => boolean
  /** Fires when the gateway stops and accepts no more subscribers. */
  readonly draining: AbortSignal
  /** Logs when a limit of the operator is reached, and when it no longer is. */
  readonly fullness: { readonly connections: Outage; readonly subscriptions: Outage }
}

interface OfClient {
  connections: number
  subscriptions: number
}

/** Counts what a client has opened, or closed. */
export function occupy(
  occupancy: Occupancy,
  client: string,
  { connections = 0, subscriptions = 0 }: Partial<OfClient>,
): void {
  occupancy.connections += connections
  occupancy.subscriptions += subscriptions
  const ofClient = occupancy.byClient.get(client) ?? { connections: 0, subscriptions: 0 }
  ofClient.connections += connections
  ofClient.subscriptions += subscriptions
  const isIdle = ofClient.connections <= 0 && ofClient.subscriptions <= 0
  if (isIdle) occupancy.byClient.delete(client)
  else occupancy.byClient.set(client, ofClient)
}

interface OccupancyDeps {
  readonly draining: AbortSignal
  readonly isOverloaded?: () => boolean
}

/** Why nothing is begun for a client now; `undefined` where it is. */
export function overloadRefusal(
  { isOverloaded }: Occupancy,
  { isOperator }: { readonly isOperator: boolean },
): LimitError | undefined {
  return isOverloaded() && !isOperator ? { code: 'GATEWAY_OVERLOADED' } : undefined
}

/** Creates the count, with nothing open. */
export function createOccupancy(
  limits: TransportLimits,
  { draining, isOverloaded = () => false }: OccupancyDeps,
  log: Pick<Log, 'info' | 'warn'>,
): Occupancy {
  const fullness = {
    connections: createOutage(log, { began: 'connections-full', over: 'connections-free' }),
    subscriptions: createOutage(log, { began: 'subscriptions-full', over: 'subscriptions-free' }),
  }
  const none = { connections: 0, subscriptions: 0, byClient: new Map() }
  const underWay = createUnderWay(limits)
  return { limits, ...none, underWay, isStopping: false, isOverloaded, draining, fullness }
}

/** Why another connection is refused; `undefined` where it is not. */
export function connectionRefusal(occupancy: Occupancy, client: string): LimitError | undefined {
  if (occupancy.draining.aborted) return { code: 'GATEWAY_DRAINING' }
  const { connections: ofClient } = occupancy.limits.client
  if ((occupancy.byClient.get(client)?.connections ?? 0) >= ofClient) {
    return { code: 'CLIENT_CONNECTION_LIMIT', limit: ofClient }
  }
  const { connections: limit } = occupancy.limits
  const isFull = meter(occupancy.fullness.connections, {
    open: occupancy.connections,
    limit,
    setting: 'MAX_CONNECTIONS',
  })
  return isFull ? { code: 'CONNECTION_LIMIT', limit } : undefined
}

/** Why a client is refused another subscription, on a connection with `open` of them; `undefined` where it is not. */
export function subscriptionRefusal(
  occupancy: Occupancy,
  client: string,
  open = 0,
): LimitError | undefined {
  if (occupancy.draining.aborted) return { code: 'GATEWAY_DRAINING' }
  const { subscriptions, subscriptionsPerConnection } = occupancy.limits
  if (open >= subscriptionsPerConnection) {
    return { code: 'SUBSCRIPTION_LIMIT', scope: 'connection', limit: subscriptionsPerConnection }
  }
  const { subscriptions: ofClient } = occupancy.limits.client
  if ((occupancy.byClient.get(client)?.subscriptions ?? 0) >= ofClient) {
    return { code: 'CLIENT_SUBSCRIPTION_LIMIT', limit: ofClient }
  }
  const isFull = meter(occupancy.fullness.subscriptions, {
    open: occupancy.subscriptions,
    limit: subscriptions,
    setting: 'MAX_SUBSCRIPTIONS',
  })
  return isFull ? { code: 'SUBSCRIPTION_LIMIT', scope: 'server', limit: subscriptions } : undefined
}

/**
 * A client with so many requests and messages that wait for their turns opens no further connection: it is cut before it is read
 * from, for refusing a request takes as long as answering a short one.
 */
export const maxTurnsAwaited = 1_024

/** A client is cut that another answer is made for while so many bytes wait for it: two of the longest answers. */
export const maxUnsentAnswers = 33_554_432

/** The most that one event of all subscriptions of a connection may cost together: as much as four operations. */
export const maxConnectionCost = 400_000

/** Why subscriptions of this total cost are refused on one connection; `undefined` where they are not. */
export function costlyRefusal(cost: number): LimitError | undefined {
  if (cost <= maxConnectionCost) return undefined
  return { code: 'SUBSCRIPTIONS_TOO_COSTLY', cost, limit: maxConnectionCost }
}

interface Level {
  readonly open: number
  readonly limit: number
  readonly setting: string
}

/** Whether the limit is reached. The outage ends only below nine tenths of it, so that it does not flap. */
function meter(outage: Outage, { open, limit, setting }: Level): boolean {
  if (open >= limit) outage.failed(`${setting}: ${limit} are open, and more are refused`)
  else if (open < limit * roomyShare) outage.recovered()
  return open >= limit
}

const roomyShare = 0.9

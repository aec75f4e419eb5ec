import type { Log } from '../lib/log.ts'
import { createOutage, type Outage } from '../lib/outage.ts'
import { maxQueryMs } from '../service/network/query-time.ts'
import type { LimitError } from './errors/api-errors.ts'
import {
  createRunningOperations,
  type RunningOperationLimits,
  type RunningOperations,
} from './graphql/execution/running-operations.ts'
import { roundMs } from './streams/heartbeat.ts'

/** Limits on connections and subscriptions. A request above a limit is refused before any work for it. */

export interface TransportLimits extends RunningOperationLimits {
  /** Open WebSockets and event streams. A process has a bounded number of file handles. */
  readonly connections: number
  /** Open subscriptions of all connections. */
  readonly subscriptions: number
  /** Open subscriptions of one WebSocket. */
  readonly subscriptionsPerConnection: number
  /** Milliseconds between two pings of a connection; a connection that sent nothing since the last ping is cut. */
  readonly heartbeatMs: number
  /** Milliseconds within which a request must arrive; otherwise its connection is cut. */
  readonly requestMs: number
  /** Timeout of a query, in milliseconds. */
  readonly queryMs: number
  /** Milliseconds without progress of pending writes after which a connection is cut. */
  readonly stalledWriteMs: number
  /** Average event loop delay in milliseconds above which requests are refused; 0 turns the check off. */
  readonly loopDelayMs: number
  /** Free bytes on the disk of a SQLite file below which no new blocks are accepted. */
  readonly minFreeDisk: number
  /** Size of the database in bytes above which no new blocks are accepted; `undefined` means no limit. */
  readonly maxDatabaseSize: number | undefined
  readonly client: ClientLimits
}

/** The limits of one client: the holder of a token, or an address. */
export interface ClientLimits {
  /** Cost that the client may spend per second on average, in units of operation cost. */
  readonly costPerSecond: number
  /** Open WebSockets and event streams of the client. */
  readonly connections: number
  /** Open subscriptions and long polls of the client. */
  readonly subscriptions: number
  /** Blocks per day that the node builds and signs for payloads of the client. */
  readonly payloadsPerDay: number
  /** Bytes of blocks per day that the client may add to the database. */
  readonly bytesPerDay: number
}

/** The limits on the development network: a client may use the whole process, because all clients are trusted. */
export const developmentClientLimits: ClientLimits = {
  costPerSecond: 10_000_000,
  connections: 19_500,
  subscriptions: 100_000,
  payloadsPerDay: 1_000_000,
  bytesPerDay: 16 * 1024 ** 3,
}

/** The limits on other networks: half a core by estimated cost, which is mostly far above the actual cost. */
export const defaultClientLimits: ClientLimits = {
  costPerSecond: 50_000,
  connections: 200,
  subscriptions: 2_000,
  // The node pays for these blocks.
  payloadsPerDay: 0,
  bytesPerDay: 256 * 1024 ** 2,
}

/** The default of `loopDelayMs` on networks other than the development network. */
export const defaultLoopDelayMs = 1_000

/** The default limits, on the development network. */
export const defaultLimits: TransportLimits = {
  connections: developmentClientLimits.connections,
  subscriptions: developmentClientLimits.subscriptions,
  subscriptionsPerConnection: 100,
  heartbeatMs: roundMs,
  requestMs: 60_000,
  queryMs: maxQueryMs,
  stalledWriteMs: 60_000,
  // Other programs may use the machine, and a developer prefers a delay to a refusal.
  loopDelayMs: 10_000,
  minFreeDisk: 256 * 1024 ** 2,
  maxDatabaseSize: undefined,
  client: developmentClientLimits,
  operations: 1_000,
  // Eight responses of the maximum size.
  heldBytes: 134_217_728,
}

/** The counts of open connections and subscriptions. */
export interface Occupancy {
  readonly limits: TransportLimits
  connections: number
  subscriptions: number
  /** The counts of each client by name; clients without open connections and subscriptions are absent. */
  readonly byClient: Map<string, ClientCounts>
  readonly runningOperations: RunningOperations
  /** Whether the gateway is about to stop. It serves requests until `draining` fires. */
  isStopping: boolean
  /** Whether the gateway is overloaded. It then refuses requests of everyone except the operator. */
  readonly isOverloaded: () => boolean
  /** Fires when the gateway stops and accepts no more subscribers. */
  readonly draining: AbortSignal
  /** Log when a configured limit is reached, and when the count is below it again. */
  readonly fullness: { readonly connections: Outage; readonly subscriptions: Outage }
}

interface ClientCounts {
  connections: number
  subscriptions: number
}

/** Adds to the counts of a client; negative numbers subtract. */
export function occupy(
  occupancy: Occupancy,
  client: string,
  { connections = 0, subscriptions = 0 }: Partial<ClientCounts>,
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

/** Returns a refusal if the gateway is overloaded and the client is not the operator. */
export function overloadRefusal(
  { isOverloaded }: Occupancy,
  { isOperator }: { readonly isOperator: boolean },
): LimitError | undefined {
  return isOverloaded() && !isOperator ? { code: 'GATEWAY_OVERLOADED' } : undefined
}

/** Creates the counts with nothing open. */
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
  const runningOperations = createRunningOperations(limits)
  return { limits, ...none, runningOperations, isStopping: false, isOverloaded, draining, fullness }
}

/** Returns why another connection of the client is refused; `undefined` if it is accepted. */
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

/** Returns why another subscription is refused on a connection with `open` subscriptions; `undefined` if it is accepted. */
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
 * Queued requests and messages of a client above which its new connections are cut. They are cut without reading, because
 * refusing a request takes as long as a short response.
 */
export const maxTurnsAwaited = 1_024

/** Maximum characters of the id of an operation on a WebSocket: every message of the operation repeats it. */
export const maxIdLength = 256

/** Maximum size of a request for a subscription, whose document and variables are held as long as it lasts. */
export const maxSubscriptionBytes = 65_536

/** Unsent bytes of a client above which it is cut instead of sending another response: the size of two maximum responses. */
export const maxUnsentAnswers = 33_554_432

/** Maximum total cost of one event of each subscription of a connection: as much as four operations. */
export const maxConnectionCost = 400_000

/** Returns why subscriptions of this total cost are refused on one connection; `undefined` if they are accepted. */
export function costlyRefusal(cost: number): LimitError | undefined {
  if (cost <= maxConnectionCost) return undefined
  return { code: 'SUBSCRIPTIONS_TOO_COSTLY', cost, limit: maxConnectionCost }
}

interface Level {
  readonly open: number
  readonly limit: number
  readonly setting: string
}

/** Whether the limit is reached. The outage ends only below nine tenths of the limit, so that it does not flap. */
function meter(outage: Outage, { open, limit, setting }: Level): boolean {
  if (open >= limit) outage.failed(`${setting}: ${limit} are open, and more are refused`)
  else if (open < limit * recoveredShare) outage.recovered()
  return open >= limit
}

const recoveredShare = 0.9

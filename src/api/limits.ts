import type { Log } from '../lib/log.ts'
import { createOutage, type Outage } from '../lib/outage.ts'
import type { LimitError } from './api-errors.ts'
import { createUnderWay, type UnderWay, type UnderWayLimits } from './graphql/under-way.ts'

/** Limits on connections and subscriptions; what exceeds one is refused before any work is done for it. */

/** The limits of one process. */
export interface TransportLimits extends UnderWayLimits {
  /** Open WebSockets and event streams. A process has a bounded number of file handles. */
  readonly connections: number
  /** Subscriptions of all connections. */
  readonly subscriptions: number
  /** Subscriptions of one WebSocket. */
  readonly subscriptionsPerConnection: number
  /** A connection whose pending writes make no progress for this time is cut, in milliseconds. */
  readonly stalledWriteMs: number
}

/** The limits of a gateway without settings. */
export const defaultLimits: TransportLimits = {
  connections: 19_500,
  subscriptions: 100_000,
  subscriptionsPerConnection: 100,
  stalledWriteMs: 60_000,
  operations: 1_000,
  // Eight of the longest.
  heldBytes: 134_217_728,
}

/** Counts what is open. */
export interface Occupancy {
  readonly limits: TransportLimits
  connections: number
  subscriptions: number
  readonly underWay: UnderWay
  /** Whether the gateway is about to stop; it serves until `draining` fires. */
  isStopping: boolean
  /** Fires when the gateway stops and accepts no more subscribers. */
  readonly draining: AbortSignal
  /** Logs when a limit of the operator is reached, and when it no longer is. */
  readonly fullness: { readonly connections: Outage; readonly subscriptions: Outage }
}

/** Creates the count, with nothing open. */
export function createOccupancy(
  limits: TransportLimits,
  draining: AbortSignal,
  log: Pick<Log, 'info' | 'warn'>,
): Occupancy {
  const fullness = {
    connections: createOutage(log, { began: 'connections-full', over: 'connections-free' }),
    subscriptions: createOutage(log, { began: 'subscriptions-full', over: 'subscriptions-free' }),
  }
  const underWay = createUnderWay(limits)
  return {
    limits,
    connections: 0,
    subscriptions: 0,
    underWay,
    isStopping: false,
    draining,
    fullness,
  }
}

/** Why another connection is refused; `undefined` where it is not. */
export function connectionRefusal(occupancy: Occupancy): LimitError | undefined {
  if (occupancy.draining.aborted) return { code: 'GATEWAY_DRAINING' }
  const { connections: limit } = occupancy.limits
  const isFull = meter(occupancy.fullness.connections, {
    open: occupancy.connections,
    limit,
    setting: 'MAX_CONNECTIONS',
  })
  return isFull ? { code: 'CONNECTION_LIMIT', limit } : undefined
}

/** Why another subscription is refused on a connection with `open` of them; `undefined` where it is not. */
export function subscriptionRefusal(occupancy: Occupancy, open: number): LimitError | undefined {
  if (occupancy.draining.aborted) return { code: 'GATEWAY_DRAINING' }
  const { subscriptions, subscriptionsPerConnection } = occupancy.limits
  if (open >= subscriptionsPerConnection) {
    return { code: 'SUBSCRIPTION_LIMIT', scope: 'connection', limit: subscriptionsPerConnection }
  }
  const isFull = meter(occupancy.fullness.subscriptions, {
    open: occupancy.subscriptions,
    limit: subscriptions,
    setting: 'MAX_SUBSCRIPTIONS',
  })
  return isFull ? { code: 'SUBSCRIPTION_LIMIT', scope: 'server', limit: subscriptions } : undefined
}

/** A request must arrive within this time, or its connection is cut. */
export const requestTimeoutMs = 60_000

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

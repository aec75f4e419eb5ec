import type { Log } from '../lib/log.ts'
import { createOutage, type Outage } from '../lib/outage.ts'
import type { LimitError } from './api-errors.ts'

/** How many may listen at once; whatever is over a limit is refused before any work is done for it. */

/** The limits of one process. */
export interface TransportLimits {
  /** Open WebSockets and event streams. A process has a bounded number of file handles. */
  readonly connections: number
  /** Subscriptions of all connections. */
  readonly subscriptions: number
  /** Subscriptions of one WebSocket. */
  readonly subscriptionsPerConnection: number
  /** A connection that takes nothing of what waits for it for so long is cut, in milliseconds. */
  readonly stalledWriteMs: number
}

/** The limits of a gateway that was told none. */
export const defaultLimits: TransportLimits = {
  connections: 19_500,
  subscriptions: 100_000,
  subscriptionsPerConnection: 100,
  stalledWriteMs: 60_000,
}

/** Counts what is open. */
export interface Occupancy {
  readonly limits: TransportLimits
  connections: number
  subscriptions: number
  /** Whether the gateway is about to stop; until `draining` fires it serves on all the same. */
  isStopping: boolean
  /** Fires when the gateway stops and takes nobody any more. */
  readonly draining: AbortSignal
  /** Tells the log when a limit is reached that the operator has set, and when there is room again. */
  readonly fullness: { readonly connections: Outage; readonly subscriptions: Outage }
}

/** Nothing open yet. */
export function createOccupancy(
  limits: TransportLimits,
  draining: AbortSignal,
  log: Pick<Log, 'info' | 'warn'>,
): Occupancy {
  const fullness = {
    connections: createOutage(log, { began: 'connections-full', over: 'connections-free' }),
    subscriptions: createOutage(log, { began: 'subscriptions-full', over: 'subscriptions-free' }),
  }
  return { limits, connections: 0, subscriptions: 0, isStopping: false, draining, fullness }
}

/** Why another connection may not come; `undefined` where it may. */
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

/** Why another subscription may not come on a connection that has some; `undefined` where it may. */
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

/** What an event of each subscription of one connection may cost in all: as much as four operations. */
export const maxConnectionCost = 2_000_000

/** Why subscriptions that cost so much in all may not be open on one connection; `undefined` where they may. */
export function costlyRefusal(cost: number): LimitError | undefined {
  if (cost <= maxConnectionCost) return undefined
  return { code: 'SUBSCRIPTIONS_TOO_COSTLY', cost, limit: maxConnectionCost }
}

interface Level {
  readonly open: number
  readonly limit: number
  readonly setting: string
}

/** Whether there is no room; room that one has left and the next takes at once is none to speak of. */
function meter(trouble: Outage, { open, limit, setting }: Level): boolean {
  if (open >= limit) trouble.failed(`${setting}: ${limit} are open, and more are refused`)
  else if (open < limit * roomyShare) trouble.recovered()
  return open >= limit
}

const roomyShare = 0.9

/** How many may listen at once; whatever is over a limit is refused before any work is done for it. */

/** The limits of one process. */
export interface DoorLimits {
  /** Open WebSockets and event streams. A process has a bounded number of file handles. */
  readonly connections: number
  /** Subscriptions of all connections. */
  readonly subscriptions: number
  /** Subscriptions of one WebSocket. */
  readonly subscriptionsPerConnection: number
}

/** The limits of a gateway that was told none. */
export const defaultLimits: DoorLimits = {
  connections: 19_500,
  subscriptions: 100_000,
  subscriptionsPerConnection: 100,
}

/** Why somebody may not listen now. */
export type LimitError =
  | {
      readonly code: 'SUBSCRIPTION_LIMIT'
      readonly scope: 'connection' | 'server'
      readonly limit: number
    }
  | { readonly code: 'CONNECTION_LIMIT'; readonly limit: number }
  /** The gateway is about to stop. */
  | { readonly code: 'GATEWAY_DRAINING' }

/** Counts what is open. */
export interface Occupancy {
  readonly limits: DoorLimits
  connections: number
  subscriptions: number
  /** Fires when the gateway is about to stop and takes nobody any more. */
  readonly draining: AbortSignal
}

/** Nothing open yet. */
export function createOccupancy(limits: DoorLimits, draining: AbortSignal): Occupancy {
  return { limits, connections: 0, subscriptions: 0, draining }
}

/** Why another connection may not come; `undefined` where it may. */
export function connectionRefusal(occupancy: Occupancy): LimitError | undefined {
  if (occupancy.draining.aborted) return { code: 'GATEWAY_DRAINING' }
  const { connections: limit } = occupancy.limits
  return occupancy.connections < limit ? undefined : { code: 'CONNECTION_LIMIT', limit }
}

/** Why another subscription may not come on a connection that has some; `undefined` where it may. */
export function subscriptionRefusal(occupancy: Occupancy, open: number): LimitError | undefined {
  if (occupancy.draining.aborted) return { code: 'GATEWAY_DRAINING' }
  const { subscriptions, subscriptionsPerConnection } = occupancy.limits
  if (open >= subscriptionsPerConnection) {
    return { code: 'SUBSCRIPTION_LIMIT', scope: 'connection', limit: subscriptionsPerConnection }
  }
  if (occupancy.subscriptions < subscriptions) return undefined
  return { code: 'SUBSCRIPTION_LIMIT', scope: 'server', limit: subscriptions }
}

import { LRUCache } from 'lru-cache'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { createTokenBucket, type Fill } from '../../lib/token-bucket.ts'
import type { FeedMessage } from '../../service/feed/follow-ledger-updates.ts'
import type { RateLimitExceeded } from '../errors/api-errors.ts'
import type { ClientLimits } from '../limits.ts'

/**
 * Cost budgets of clients over all transports together, in the units of operation cost. Each client has a token bucket, by the
 * subject of its token or by its address.
 */

/** The cost budget of one client. */
export interface Share {
  readonly client: string
  /** Spends units before the work, or returns a refusal if there are too few. */
  take(cost: number): RateLimitExceeded | undefined
  /**
   * Spends units for work that is done, or that cannot be refused. The level may become negative, and later requests wait until it
   * is refilled. A negative cost returns units.
   */
  charge(cost: number): void
  /** Remaining whole units. */
  remaining(): number
  /** The rate limit headers of a response (draft-ietf-httpapi-ratelimit-headers-10). */
  headers(): RateLimitHeaders
}

interface RateLimitHeaders extends Readonly<Record<string, string>> {
  /** Remaining units, and seconds until the budget is full if nothing is spent. */
  readonly ratelimit: string
  /** Capacity of the budget, and seconds in which it fills. */
  readonly 'ratelimit-policy': string
}

/** The cost budgets of all clients. */
export interface ClientShares {
  /** Returns the budget of a client by its name. */
  of(client: string): Share
}

/** Seconds in which an empty budget fills: a client may spend the units of this time at once. */
const burstSeconds = 10

/** Budgets in memory, about 300 bytes each. Above this number the least recently used budget is dropped and starts full again. */
const maxShares = 65_536

/** Fixed cost of a request, about 100 µs: its headers, its log entry and its response. */
export const requestCost = 10

/** Cost of opening a WebSocket or an MQTT connection. */
export const connectionCost = 20

/** Cost of sending one update of a feed; subscribers mostly share its text. */
const updateCost = 1

/** Cost of sending an event of a feed that is rendered once for many subscribers. */
export function deliveryCost(message: FeedMessage): number {
  if (message.kind === 'updates') return message.rows.length * updateCost
  if (message.kind === 'snapshot') return message.outputIds.length * updateCost
  return 1
}

/** Creates full budgets. `now` is a monotonic clock in milliseconds. */
export function createClientShares(
  { costPerSecond }: Pick<ClientLimits, 'costPerSecond'>,
  now: () => number = () => performance.now(),
): ClientShares {
  // With `max` the cache would reserve memory for all of them.
  const shares = new LRUCache<string, Share>({ maxSize: maxShares, sizeCalculation: () => 1 })
  const fill = { capacity: costPerSecond * burstSeconds, perSecond: costPerSecond }
  return {
    of: (client) => getOrInsert(shares, client, () => createShare(client, fill, now)),
  }
}

function createShare(client: string, fill: Fill, now: () => number): Share {
  const bucket = createTokenBucket(fill, now)
  const { capacity } = fill
  const policy = `"cost";q=${capacity};w=${burstSeconds}`
  return {
    client,
    take: (cost) => {
      // A cost near or above the capacity would otherwise never be granted. It leaves a debt.
      const retryAfterSeconds = bucket.take(cost, Math.min(cost, capacity * 0.9))
      if (retryAfterSeconds === undefined) return undefined
      return { code: 'RATE_LIMIT_EXCEEDED', cost, remaining: bucket.level(), retryAfterSeconds }
    },
    charge: bucket.spend,
    remaining: bucket.level,
    headers: () => ({
      ratelimit: `"cost";r=${bucket.level()};t=${bucket.secondsToFull()}`,
      'ratelimit-policy': policy,
    }),
  }
}

/** A view of a budget for one request whose cost is reported several times: each report spends only the increase. */
export function forOneRequest(share: Share): Share {
  let taken = 0
  return {
    client: share.client,
    take: (cost) => {
      if (cost <= taken) return undefined
      const refusal = share.take(cost - taken)
      if (refusal === undefined) taken = cost
      return refusal
    },
    charge: share.charge,
    remaining: share.remaining,
    headers: share.headers,
  }
}

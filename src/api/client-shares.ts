import { LRUCache } from 'lru-cache'
import { createTokenBucket, type Fill } from '../lib/token-bucket.ts'
import type { FeedMessage } from '../service/feed/follow-ledger-updates.ts'
import type { RateLimitExceeded } from './api-errors.ts'
import type { ClientLimits } from './limits.ts'

/**
 * What each client may spend, in the units of the cost of operations, over all transports together: a token bucket by the
 * subject of its token, or by its address.
 */

/** The share of one client. */
export interface Share {
  /** By name. */
  readonly client: string
  /** Spends units before the work, or gives why not. */
  take(cost: number): RateLimitExceeded | undefined
  /**
   * Spends units for work that is done, or that cannot be refused; later requests make up for what was not there. Units below
   * zero are given back.
   */
  charge(cost: number): void
  /** Whole units that are left. */
  remaining(): number
  /** What an answer says of it (draft-ietf-httpapi-ratelimit-headers-10). */
  headers(): RateLimitHeaders
}

interface RateLimitHeaders extends Readonly<Record<string, string>> {
  /** What is left, and after how many seconds without spending all of it is there. */
  readonly ratelimit: string
  /** The whole, and in how many seconds it fills. */
  readonly 'ratelimit-policy': string
}

/** The shares of all clients. */
export interface ClientShares {
  /** The share of a client by its name. */
  of(client: string): Share
}

/** A share is full for this time without spending, in seconds: so much may be spent in one go. */
const burstSeconds = 10

/** Shares that are known at a time, some 300 bytes each; of more clients the one that came longest ago begins anew. */
const maxShares = 65_536

/** What one request costs besides what it asks for, some 100 µs: its head, its log, its answer. */
export const requestCost = 10

/** Opening a connection that lasts. */
export const connectionCost = 20

/** Sending one update of a feed, whose text is mostly shared with others. */
const updateCost = 1

/** Sending an event of a feed that is made for many. */
export function deliveryCost(message: FeedMessage): number {
  if (message.kind === 'updates') return message.rows.length * updateCost
  if (message.kind === 'snapshot') return message.outputIds.length * updateCost
  return 1
}

/** Shares that are full, by a clock in milliseconds that never goes back. */
export function createClientShares(
  { costPerSecond }: Pick<ClientLimits, 'costPerSecond'>,
  now: () => number = () => performance.now(),
): ClientShares {
  const shares = new LRUCache<string, Share>({ max: maxShares })
  const fill = { capacity: costPerSecond * burstSeconds, perSecond: costPerSecond }
  return {
    of: (client) => {
      const known = shares.get(client)
      if (known !== undefined) return known
      const share = createShare(client, fill, now)
      shares.set(client, share)
      return share
    },
  }
}

function createShare(client: string, fill: Fill, now: () => number): Share {
  const bucket = createTokenBucket(fill, now)
  const { capacity } = fill
  const policy = `"cost";q=${capacity};w=${burstSeconds}`
  return {
    client,
    take: (cost) => {
      // What costs more than nearly all of a full share would otherwise never be taken; it leaves a debt.
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

/** A share for one request, whose cost may be said several times: each time the rest is taken. */
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

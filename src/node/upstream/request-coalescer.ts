import { LRUCache } from 'lru-cache'

/**
 * Coalesces equal concurrent requests into one, and caches its response for a short time. A burst of requests for an unknown item
 * causes one request to the node.
 */
export interface RequestCoalescer<T> {
  /** Returns the response for a key. `keepMs` returns the milliseconds for which the response is cached, at least 1. */
  coalesce(key: string, load: () => Promise<T>, keepMs: (answer: T) => number): Promise<T>
}

interface Request<T> {
  readonly load: () => Promise<T>
  readonly keepMs: (answer: T) => number
}

/** Creates a coalescer that caches at most `limit` responses. */
export function createRequestCoalescer<T extends {}>(limit: number): RequestCoalescer<T> {
  const answers = new LRUCache<string, T, Request<T>>({
    max: limit,
    // A response may be a block, and may never be requested again.
    ttlAutopurge: true,
    fetchMethod: async (_key, _stale, { context: { load, keepMs }, options }) => {
      const answer = await load()
      // A TTL of 0 would never expire.
      options.ttl = Math.max(keepMs(answer), 1)
      return answer
    },
    ignoreFetchAbort: true,
  })
  return {
    coalesce: (key, load, keepMs) => answers.forceFetch(key, { context: { load, keepMs } }),
  }
}

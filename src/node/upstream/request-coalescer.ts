import { LRUCache } from 'lru-cache'

/**
 * One request for equal requests that come together, and its answer for those that come a little later: a storm of
 * requests for something unknown is one request to the node.
 */
export interface RequestCoalescer<T> {
  /** The answer for a key; `keepMs` says for how long after it came it is good for others, at least 1. */
  coalesce(key: string, load: () => Promise<T>, keepMs: (answer: T) => number): Promise<T>
}

interface Request<T> {
  readonly load: () => Promise<T>
  readonly keepMs: (answer: T) => number
}

/** Keeps at most `limit` answers. */
export function createRequestCoalescer<T extends {}>(limit: number): RequestCoalescer<T> {
  const answers = new LRUCache<string, T, Request<T>>({
    max: limit,
    fetchMethod: async (_key, _stale, { context: { load, keepMs }, options }) => {
      const answer = await load()
      // The cache takes 0 for "forever".
      options.ttl = Math.max(keepMs(answer), 1)
      return answer
    },
    ignoreFetchAbort: true,
  })
  return {
    coalesce: (key, load, keepMs) => answers.forceFetch(key, { context: { load, keepMs } }),
  }
}

import type { ResponseCache } from '../response-cache.ts'
import { tagOf } from './respond.ts'
import { jsonHeaders, type RouteResponse } from './response.ts'
import type { ReadVersion } from './route.ts'

/** Caches responses of routes while the data behind them is unchanged. */

/** A request to a route whose responses are cached. */
export interface CacheableRequest {
  /** The path and the query string as the client sent them. */
  readonly target: string
  /** Returns the function that reads the version of the response; `undefined` if the request is refused. */
  version(): ReadVersion | undefined
  answer(): Promise<RouteResponse>
}

/** Returns the response from the cache, or computes it. Only successful responses are cached. */
export async function cachedResponse(
  cache: ResponseCache,
  { target, version, answer }: CacheableRequest,
): Promise<RouteResponse> {
  const compute = async () => {
    const answered = await answer()
    if (answered.status === 200 && 'body' in answered && typeof answered.body === 'string') {
      return answered.body
    }
    throw new NotCached(answered)
  }
  try {
    const request = { method: 'REST', text: Buffer.from(target) } as const
    const written = await cache.getOrCompute(request, () => ({ version, compute }))
    if (written === undefined) return await answer()
    if (typeof written === 'string') return { status: 200, headers: jsonHeaders, body: written }
    written.etag ??= tagOf(written.body)
    return { status: 200, headers: { ...jsonHeaders, etag: written.etag }, body: written.body }
  } catch (failure) {
    if (failure instanceof NotCached) return failure.answered
    throw failure
  }
}

/** Passes a refusal around the cache, also to concurrent requests that wait for the same response. */
class NotCached extends Error {
  readonly answered: RouteResponse

  constructor(answered: RouteResponse) {
    super('the response is not cached')
    this.answered = answered
  }
}

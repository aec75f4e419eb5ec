import type { IncomingMessage } from 'node:http'
import type { Log } from '../../lib/log.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { storeAwayOf } from '../../service/network/database-away.ts'
import type { Services } from '../../service/services.ts'
import type { Share } from '../clients/client-shares.ts'
import type { Client } from '../clients/clients.ts'
import type { BodyError, LimitError } from '../errors/api-errors.ts'
import { toRest } from '../errors/errors.ts'
import { bytesOfUnit } from '../graphql/execution/prices.ts'
import { isForm } from '../http/forms.ts'
import { type Occupancy, occupy, subscriptionRefusal } from '../limits.ts'
import type { Observation } from '../observation.ts'
import type { ResponseCache } from '../response-cache.ts'
import { nextRequest } from '../response-tracker.ts'
import type { Caller } from '../tokens/auth.ts'
import { readBody } from './body.ts'
import { cachedResponse } from './cached-response.ts'
import { findRoute, type RouteTable, readQuery } from './match.ts'
import type { RestRequest } from './request.ts'
import type { RefusalForm, RouteResponse, StreamedResponse } from './response.ts'
import type { Route } from './route.ts'

export interface RouterDeps {
  readonly routes: RouteTable<Route>
  readonly services: Services
  readonly responseCache: ResponseCache
  readonly log: Log
}

/** A request to the router, with the facts that the HTTP server has determined. */
export interface RouterRequest {
  readonly message: IncomingMessage
  /** The path as the client sent it, without the query string. */
  readonly path: string
  /** The query string, without the question mark. */
  readonly query: string
  readonly caller: Caller
  readonly requestId: string
  readonly occupancy: Occupancy
  readonly client: Client
  /** The budget of the client; `undefined` if the request is free. */
  readonly share: Share | undefined
  readonly observation: Observation
}

/** Finds the route and calls it. Never throws: an exception of a route becomes STORE_AWAY, or INTERNAL with its stack in the log. */
export async function answer(deps: RouterDeps, request: RouterRequest): Promise<RouteResponse> {
  const { message, requestId, caller } = request
  let refusals: RefusalForm | undefined
  try {
    const found = findRoute(deps.routes, message.method ?? 'GET', request.path)
    if (!found.ok) return toRest(found.error)
    const { route, params } = found.value
    const { cost = defaultCost } = route
    const exceeded = request.share?.take(cost)
    if (exceeded !== undefined) return toRest(exceeded)
    refusals = route.refusals
    request.observation.route = route.path
    const query = readQuery(request.query, Object.keys(route.query ?? {}))
    if (!query.ok) return toRest(query.error, refusals)
    const form = formRefusal(route, message)
    if (form !== undefined) return toRest(form, refusals)
    const asked: RestRequest = {
      params,
      query: query.value,
      headers: message.headers,
      caller,
      requestId,
      listen: (work) => listen(request, work),
      wait: (work) =>
        listen(request, (signal) => work(AbortSignal.any([signal, nextRequest(message)]))),
      quota: request.client.quota,
      isStopping: request.occupancy.isStopping,
      body: () => readBody(message, request.client.name),
    }
    const answered =
      route.version === undefined
        ? await route.answer(asked, deps.services)
        : await cachedResponse(deps.responseCache, {
            target: `${request.path}?${request.query}`,
            version: () => route.version?.(asked, deps.services),
            answer: () => route.answer(asked, deps.services),
          })
    if ('stream' in answered) return meteredStream(deps, request, answered)
    request.share?.charge(answered.body.length / bytesOfUnit)
    return answered
  } catch (error) {
    const away = storeAwayOf(error)
    if (away !== undefined) return toRest(away, refusals)
    // The client disconnected while it sent the body.
    if (message.errored !== null) deps.log.debug('request-cut', { requestId, path: request.path })
    else deps.log.error('request-failed', { requestId, path: request.path, error })
    return toRest({ code: 'INTERNAL', requestId })
  }
}

/** Returns the form of the error responses of a route, for requests that are refused before they reach it. */
export function refusalsAt(
  { routes }: Pick<RouterDeps, 'routes'>,
  { method = 'GET' }: IncomingMessage,
  path: string,
): RefusalForm | undefined {
  const found = findRoute(routes, method, path)
  return found.ok ? found.value.route.refusals : undefined
}

/** Default cost of a route: a few reads by key. */
const defaultCost = 50

/** Charges a streamed response while it is produced, and logs failures, which can no longer be reported to the client. */
function meteredStream(
  { log }: RouterDeps,
  { requestId, path, share }: RouterRequest,
  answered: StreamedResponse,
): StreamedResponse {
  async function* logged(): AsyncGenerator<string | Uint8Array> {
    try {
      for await (const piece of answered.stream.pieces) {
        share?.charge(piece.length / bytesOfUnit)
        yield piece
      }
    } catch (error) {
      if (storeAwayOf(error) === undefined) log.error('request-failed', { requestId, path, error })
      throw error
    }
  }
  return { ...answered, stream: { ...answered.stream, pieces: logged() } }
}

/** Refuses HTML forms at POST routes without a body. Routes with a body check the content type themselves. */
function formRefusal({ method, body }: Route, { headers }: IncomingMessage): BodyError | undefined {
  const given = headers['content-type']
  if (method === 'GET' || body !== undefined || given === undefined || !isForm(given)) {
    return undefined
  }
  return { code: 'CONTENT_TYPE_REFUSED', given, expected: 'application/json' }
}

/** Runs long-lasting work. It watches the socket, because the request itself closes as soon as it is read. */
async function listen<T>(
  { message: { socket }, occupancy, client, observation }: RouterRequest,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<Result<T, LimitError>> {
  const refusal = subscriptionRefusal(occupancy, client.name)
  if (refusal !== undefined) return err(refusal)
  const over = new AbortController()
  const abort = () => over.abort()
  socket.once('close', abort)
  occupancy.draining.addEventListener('abort', abort)
  occupy(occupancy, client.name, { subscriptions: 1 })
  observation.isOpenEnded = true
  try {
    return ok(await work(over.signal))
  } finally {
    occupy(occupancy, client.name, { subscriptions: -1 })
    occupancy.draining.removeEventListener('abort', abort)
    // The socket may carry further requests.
    socket.off('close', abort)
  }
}

import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { within } from '../../lib/tracing.ts'
import { storeAwayOf } from '../../service/network/database-away.ts'
import type { Clients } from '../clients/clients.ts'
import { toRest } from '../errors/errors.ts'
import type { GatewayError } from '../errors/gateway-error.ts'
import { type Explorer, explorerResponse } from '../explorer.ts'
import { bytesOfUnit } from '../graphql/execution/prices.ts'
import { refusedGraphql } from '../graphql/execution/refused.ts'
import { holdUntilSent } from '../graphql/execution/running-operations.ts'
import { graphiqlPage } from '../graphql/graphiql/graphiql.ts'
import { answerGraphql, type CommonHeaders, type GraphqlDeps } from '../graphql-request.ts'
import { noteCode, type Observation } from '../observation.ts'
import type { Observer } from '../observer.ts'
import { originHeaders, type Policies, policyProblem } from '../policies.ts'
import { send } from '../rest/respond.ts'
import type { RestResponse, RouteResponse } from '../rest/response.ts'
import { answer, type RouterDeps, refusalsAt } from '../rest/router.ts'
import { type AuthDeps, callerOf, credentialsOf } from '../tokens/auth.ts'
import { earlyRefusal, isProbe } from './early-refusal.ts'
import { headProblem } from './unreadable.ts'

/** Handles HTTP requests: checks the head, identifies the client, and dispatches to GraphQL, the explorer or a REST route. */

export interface RequestDeps extends GraphqlDeps, RouterDeps {
  readonly auth: AuthDeps
  readonly clients: Clients
  readonly policies: Policies
  readonly explorer?: Explorer | undefined
  readonly observer: Observer
}

/** The path of GraphQL over HTTP and WebSocket. */
export const graphqlPath = '/graphql'

/** Handles a request inside its trace, until the response is written to the socket. */
export async function observeRequest(
  deps: RequestDeps,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const observation = deps.observer.begin('http', randomUUID(), message.headers)
  try {
    await within(observation.span, () => handle(deps, message, response, observation))
  } finally {
    deps.observer.endRequest(observation, response)
  }
}

/** An HTTP request with its response. */
interface HttpExchange {
  readonly message: IncomingMessage
  readonly response: ServerResponse
  readonly path: string
  /** The query string, without the question mark. */
  readonly query: string
  readonly observation: Observation
  /** The headers of every response. */
  readonly common: CommonHeaders
  /** Whether a browser navigates to the path. */
  readonly isOpened: boolean
  reply(answered: RouteResponse, headers?: CommonHeaders): void
}

async function handle(
  deps: RequestDeps,
  message: IncomingMessage,
  response: ServerResponse,
  observation: Observation,
): Promise<void> {
  const { requestId } = observation
  const { path, query } = splitTarget(message.url ?? '/')
  const common = commonHeaders(requestId, originHeaders(deps.policies, message.headers))
  const reply = (answered: RouteResponse, headers: CommonHeaders = common) => {
    noteCode(observation, answered.code)
    send(response, answered, headers)
  }
  // A client that closes the connection during a response is logged at debug level only.
  response.on('error', (error) => deps.log.debug('response-cut', { requestId, error }))
  const isOpened = wantsPage(message)
  const exchange = { message, response, path, query, observation, common, isOpened, reply }
  try {
    if (!answerByHead(deps, exchange)) await answerClient(deps, exchange)
  } catch (error) {
    const away = storeAwayOf(error)
    if (away === undefined) deps.log.error('request-failed', { requestId, path, error })
    if (response.headersSent) response.destroy()
    else reply(refusalOf(deps, exchange, away ?? { code: 'INTERNAL', requestId }))
  }
}

/** Answers requests that need no client: refused heads, preflight requests and the explorer. Returns whether it answered. */
function answerByHead(
  deps: RequestDeps,
  { message, response, path, common, isOpened, reply }: HttpExchange,
): boolean {
  const { policies, explorer } = deps
  const { method, headers } = message
  // Load balancers and supervisors name the gateway by its address, or not at all.
  const refused = isProbe(path) ? undefined : policyProblem(policies, headers, false)
  const problem = headProblem(message) ?? refused
  if (problem !== undefined) {
    // The body of such a request is not read, so the connection cannot be used again.
    response.setHeader('connection', 'close')
    reply(toRest(problem))
    return true
  }
  if (method === 'OPTIONS') {
    preflight(message, response, common)
    return true
  }
  const { 'content-encoding': coding = 'identity' } = headers
  if (coding.toLowerCase() !== 'identity') {
    reply(refusalOf(deps, { message, path }, { code: 'CONTENT_ENCODING_REFUSED' }))
    return true
  }
  const shown = explorerResponse(explorer, message, path, isOpened)
  if (shown !== undefined) reply(shown)
  return shown !== undefined
}

/** Identifies the client, checks its limits, and answers by GraphQL, GraphiQL or a REST route. */
async function answerClient(deps: RequestDeps, exchange: HttpExchange): Promise<void> {
  const { message, response, path, query, observation, common, reply } = exchange
  const sent = credentialsOf(message.headers)
  const caller = callerOf(deps.auth, sent)
  const asking = deps.clients.of(message, sent, caller)
  const client = asking instanceof Promise ? await asking : asking
  const { share } = client
  const isFree = isProbe(path)
  const early = earlyRefusal(deps.occupancy, client, { message, path, query })
  if (early !== undefined) {
    return reply(refusalOf(deps, exchange, early), { ...common, ...share.headers() })
  }
  const isPage = deps.policies.hasGraphiql && exchange.isOpened
  if (path === '/' && isPage) return sendToPage(response, common)
  if (path !== graphqlPath) {
    const unknown = exchange.isOpened ? unknownPage(deps, path) : undefined
    if (unknown !== undefined) return reply(unknown)
    const { occupancy } = deps
    const { requestId } = observation
    const asked = { message, path, query, caller, client, requestId, occupancy, observation }
    const found = await answer(deps, { ...asked, share: isFree ? undefined : share })
    const { runningOperations: running } = occupancy
    const bytes = 'body' in found ? found.body.length : 0
    const full = holdUntilSent(running, client.name, response, bytes)
    const answered = full === undefined ? found : refusalOf(deps, exchange, full)
    return reply(answered, isFree ? common : { ...common, ...share.headers() })
  }
  observation.route = graphqlPath
  if (isPage) {
    const page = await graphiqlPage(deps.services)
    reply(page)
    if (response.statusCode === 200) share.charge(page.body.length / bytesOfUnit)
    return
  }
  await answerGraphql(deps, { message, response, query, caller, client, common, observation })
}

/**
 * The page of the explorer for a path that a person has mistyped. A path below a folder of the API has its usual response, because some
 * programs accept HTML without being asked to.
 */
function unknownPage({ explorer, routes }: RequestDeps, path: string): RestResponse | undefined {
  const [, folder = ''] = path.split('/')
  return routes.root.literals.has(folder) ? undefined : explorer?.missing(path)
}

/** Returns the response for an error in the form of the path: that of GraphQL, or that of a route. */
function refusalOf(
  deps: RouterDeps,
  { message, path }: Pick<HttpExchange, 'message' | 'path'>,
  error: GatewayError,
): RestResponse {
  return path === graphqlPath
    ? refusedGraphql(error)
    : toRest(error, refusalsAt(deps, message, path))
}

/** Splits the target of a request into path and query string. A request to a proxy has a whole URL as its target. */
export function splitTarget(target: string): { readonly path: string; readonly query: string } {
  const local = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?]*/i, '')
  const at = local.indexOf('?')
  return at === -1
    ? { path: local, query: '' }
    : { path: local.slice(0, at), query: local.slice(at + 1) }
}

function commonHeaders(requestId: string, origins: CommonHeaders): CommonHeaders {
  return {
    'x-request-id': requestId,
    'x-content-type-options': 'nosniff',
    // A cache may choose a lifetime for a response that states none (RFC 9111, 4.2.2).
    'cache-control': 'no-cache',
    ...origins,
  }
}

function preflight(
  message: IncomingMessage,
  response: ServerResponse,
  common: CommonHeaders,
): void {
  const asked = message.headers['access-control-request-headers']
  response.writeHead(204, {
    ...common,
    ...('access-control-allow-origin' in common && {
      'access-control-allow-methods': 'GET, HEAD, POST, OPTIONS',
      'access-control-allow-headers':
        asked ?? 'authorization, content-type, if-match, if-none-match',
      'access-control-max-age': '86400',
    }),
    'content-length': '0',
  })
  response.end()
}

/** Whether a browser navigates to the path. */
function wantsPage({ method, headers }: IncomingMessage): boolean {
  return isRead(method) && (headers.accept ?? '').includes('text/html')
}

function isRead(method: string | undefined): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Redirects a browser from the root to GraphiQL. The location is relative, because a proxy may add a path prefix. */
function sendToPage(response: ServerResponse, common: CommonHeaders): void {
  send(response, { status: 302, headers: { location: graphqlPath.slice(1) }, body: '' }, common)
}

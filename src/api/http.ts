import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { GraphQLSchema } from 'graphql'
import type { Log } from '../lib/log.ts'
import { err, ok, type Result } from '../lib/result.ts'
import { within } from '../lib/tracing.ts'
import { storeAwayOf } from '../service/network/database-away.ts'
import type { Services } from '../service/services.ts'
import { watchAnswers } from './answers.ts'
import type { BodyError, QueryParameterMalformed } from './api-errors.ts'
import { type AuthDeps, callerOf, credentialsOf } from './auth.ts'
import { toGraphQL, toRest } from './errors.ts'
import { createBudget } from './graphql/budget.ts'
import { createDirectAnswers, type DirectAnswers } from './graphql/direct.ts'
import { createDocuments, type TrustedDocuments } from './graphql/documents.ts'
import { graphiqlPage } from './graphql/graphiql.ts'
import { createGraphqlServer, type GraphqlServer } from './graphql/server.ts'
import {
  createOccupancy,
  type Occupancy,
  requestTimeoutMs,
  type TransportLimits,
} from './limits.ts'
import { type Listeners, openListeners } from './listeners.ts'
import { type MqttTransport, mqttPath, openMqtt } from './mqtt/broker.ts'
import { noteRefusal, type Observation } from './observation.ts'
import { createObserver, type Observer } from './observer.ts'
import { watchOpenFiles } from './open-files.ts'
import { ignoreUpgrade, refuseTunnels, wantsWebSocket } from './other-protocols.ts'
import { openPolicies, originHeaders, type Policies, policyProblem } from './policies.ts'
import { checkContentType, parseJson } from './rest/body.ts'
import { type RouteTable, tableOf } from './rest/match.ts'
import { send } from './rest/respond.ts'
import { json, type RestResponse, type RouteResponse } from './rest/response.ts'
import type { Route } from './rest/route.ts'
import { answer } from './rest/router.ts'
import { wantsEvents } from './sse.ts'
import { cutStalledWrites } from './stalled-writes.ts'
import { answerUnreadable, headProblem, maxHeadBytes } from './unreadable.ts'
import { refuseUpgrade } from './ws.ts'

/** The one HTTP server: GraphQL with GraphiQL and WebSocket at `/graphql`, the REST routes beside it. */

/** What the HTTP server needs. */
export interface HttpDeps {
  readonly schema: GraphQLSchema
  readonly routes: readonly Route[]
  readonly services: Services
  readonly auth: AuthDeps
  readonly limits: TransportLimits
  /** The only documents that are answered; without it all are. */
  readonly trustedDocuments?: TrustedDocuments | undefined
  /** What browsers and strangers may do; everything by default. */
  readonly policies?: Policies | undefined
  readonly log: Log
  /** Follows requests and operations; by default nothing is measured or logged of them. */
  readonly observer?: Observer | undefined
}

/** Where the server listens. Port 0 takes any free one. */
export interface HttpAddress {
  readonly host: string
  readonly port: number
}

/** A listening server. */
export interface HttpServer {
  /** Of the root, without a slash at its end. */
  readonly url: string
  /** Reports itself as not ready, and continues to serve. */
  announceStop(): void
  load(): TransportLoad
  /**
   * Accepts no more connections, closes subscriptions spread over `windowMs`, waits at most `graceMs` for the requests under
   * way, and then cuts them.
   */
  close(times: { readonly windowMs: number; readonly graceMs: number }): Promise<void>
}

/** What is open at the transports. */
export interface TransportLoad {
  readonly websocket: number
  readonly eventStream: number
  readonly mqtt: number
  /** Subscriptions of all kinds, and requests that wait for news. */
  readonly subscriptions: number
}

/** Why the server does not listen. */
export interface ListenError {
  readonly code: 'CANNOT_LISTEN'
  readonly host: string
  readonly port: number
  /** The system's name for it, such as `EADDRINUSE`. */
  readonly reason: string
}

/** The path of GraphQL, for HTTP and for WebSocket. */
export const graphqlPath = '/graphql'

/**
 * An idle connection is kept for this time: load balancers keep theirs for a minute, and a request that they send into one
 * while it is being closed would be lost.
 */
const idleTimeoutMs = 65_000

const serverOptions = {
  requestTimeout: requestTimeoutMs,
  keepAliveTimeout: idleTimeoutMs,
  maxHeaderSize: maxHeadBytes,
  // `headProblem` refuses in JSON.
  requireHostHeader: false,
}

/** Starts the server. */
export async function openHttp(
  given: HttpDeps,
  address: HttpAddress,
): Promise<Result<HttpServer, ListenError>> {
  const { policies = openPolicies, observer = createObserver({ ...given, slowMs: 0 }) } = given
  const deps = { ...given, policies, observer }
  const documents = createDocuments(deps.trustedDocuments)
  const { hasIntrospection } = policies
  const graphql = createGraphqlServer({ ...deps, documents, hasIntrospection })
  const drain = new AbortController()
  // Every connection has a listener on it, and Node reports more than ten as a leak.
  setMaxListeners(0, drain.signal)
  const occupancy = createOccupancy(deps.limits, drain.signal, deps.log)
  const listeners = openListeners({ ...deps, graphql, documents, occupancy })
  // Opened once the server listens: it begins to read the ledger at once.
  let mqtt: MqttTransport | undefined
  const direct = createDirectAnswers({ ...deps, graphql, documents })
  const inHand = { ...deps, routes: tableOf(deps.routes), graphql, direct, occupancy, listeners }
  const answers = watchAnswers()
  const take = (message: IncomingMessage, response: ServerResponse) => {
    answers.add(response)
    void observe(inHand, message, response)
  }
  const server = createServer(serverOptions, take).on('checkExpectation', take)
  answerUnreadable(server)
  refuseTunnels(server)
  const stalledWrites = cutStalledWrites(server, deps.limits, deps.log)
  takeUpgrades(server, policies, (path) => {
    if (path === graphqlPath) return listeners
    return path === mqttPath ? mqtt : undefined
  })
  const refused = await listen(server, address)
  if (refused !== undefined) {
    stalledWrites.close()
    await listeners.close(0, 0)
    return err({ code: 'CANNOT_LISTEN', ...address, reason: refused })
  }
  const opened = await openMqtt({ ...deps, occupancy })
  mqtt = opened
  const openFiles = watchOpenFiles(server, deps.log)
  return ok({
    url: urlOf(server, address.host),
    announceStop: () => {
      occupancy.isStopping = true
    },
    load: () => {
      const { subscriptions } = occupancy
      return { ...listeners.load(), mqtt: opened.connections(), subscriptions }
    },
    close: async ({ windowMs, graceMs }) => {
      occupancy.isStopping = true
      drain.abort()
      answers.closeBehind()
      openFiles.close()
      await Promise.all([listeners.close(windowMs, graceMs), opened.close(windowMs)])
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      const cut = setTimeout(() => server.closeAllConnections(), graceMs)
      server.closeIdleConnections()
      await closed
      stalledWrites.close()
      clearTimeout(cut)
      await graphql.dispose()
    },
  })
}

/** Passes requests to upgrade to the transport of their path. */
function takeUpgrades(
  server: Server,
  policies: Policies,
  transportAt: (path: string) => Pick<Listeners, 'upgrade'> | undefined,
): void {
  server.on('upgrade', (request, socket, head) => {
    const target = request.url ?? '/'
    const transport = transportAt(splitTarget(target).path)
    if (!wantsWebSocket(request)) return ignoreUpgrade(server, request, socket, head)
    const problem = policyProblem(policies, request.headers, true)
    if (problem !== undefined) refuseUpgrade(socket, toRest(problem))
    else if (transport !== undefined) transport.upgrade(request, socket, head)
    else refuseUpgrade(socket, toRest({ code: 'PATH_UNKNOWN', path: target }))
  })
}

interface RequestDeps extends Omit<HttpDeps, 'routes'> {
  readonly policies: Policies
  readonly observer: Observer
  readonly routes: RouteTable<Route>
  readonly graphql: GraphqlServer
  readonly direct: DirectAnswers
  readonly occupancy: Occupancy
  readonly listeners: Listeners
}

/** Handles a request as a part of its trace, until its answer was given to the socket. */
async function observe(
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

async function handle(
  deps: RequestDeps,
  message: IncomingMessage,
  response: ServerResponse,
  observation: Observation,
): Promise<void> {
  const { requestId } = observation
  const { path, query } = splitTarget(message.url ?? '/')
  const { policies } = deps
  const common = commonHeaders(requestId, originHeaders(policies, message.headers))
  const reply = (answered: RouteResponse) => {
    noteRefusal(observation, answered)
    send(response, answered, common)
  }
  // A client that leaves in the middle of an answer is logged at the level debug alone.
  response.on('error', (error) => deps.log.debug('response-cut', { requestId, error }))
  try {
    const problem = headProblem(message) ?? policyProblem(policies, message.headers, false)
    if (problem !== undefined) {
      // The bytes after such a head are not read.
      response.setHeader('connection', 'close')
      return reply(toRest(problem))
    }
    if (message.method === 'OPTIONS') return preflight(message, response, common)
    const { 'content-encoding': coding = 'identity' } = message.headers
    if (coding !== 'identity') {
      return reply(toRest({ code: 'CONTENT_ENCODING_REFUSED' }))
    }
    const caller = callerOf(deps.auth, credentialsOf(message.headers))
    const isPage = policies.hasGraphiql && wantsPage(message)
    if (path === '/' && isPage) return sendToPage(response, common)
    if (path !== graphqlPath) {
      const { occupancy } = deps
      const request = { message, path, query, caller, requestId, occupancy, observation }
      return reply(await answer(deps, request))
    }
    observation.route = graphqlPath
    if (isPage) return await sendPage(message, response, common)
    if (message.method === 'POST') {
      const type = checkContentType(message.headers['content-type'], ...graphqlTypes)
      if (!type.ok) return reply(refusedGraphql(415, type.error))
    }
    if (wantsEvents(message)) {
      setHeaders(response, common)
      return await deps.listeners.answer({ message, response, query, caller, observation })
    }
    const misspelt = message.method === 'GET' ? unreadableParameter(query) : undefined
    if (misspelt !== undefined) return reply(refusedGraphql(400, misspelt))
    const { services, limits, occupancy } = deps
    const { isStopping } = occupancy
    const context = { caller, services, limits, requestId, isStopping, observation }
    const left = await deps.direct.answer(message, response, { query, context, common })
    if (left === undefined) return
    setHeaders(response, common)
    const budget = createBudget()
    response.once('close', () => {
      if (!response.writableFinished) budget.leave()
    })
    await deps.graphql(left, response, { ...context, budget })
  } catch (error) {
    const away = storeAwayOf(error)
    if (away === undefined) deps.log.error('request-failed', { requestId, path, error })
    if (response.headersSent) response.destroy()
    else reply(toRest(away ?? { code: 'INTERNAL', requestId }))
  }
}

/** The target of a request is a path and query, or for a proxy a whole URL. */
function splitTarget(target: string): { readonly path: string; readonly query: string } {
  const local = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?]*/i, '')
  const at = local.indexOf('?')
  return at === -1
    ? { path: local, query: '' }
    : { path: local.slice(0, at), query: local.slice(at + 1) }
}

function commonHeaders(requestId: string, origins: CommonHeaders): CommonHeaders {
  return { 'x-request-id': requestId, 'x-content-type-options': 'nosniff', ...origins }
}

type CommonHeaders = Readonly<Record<string, string>>

/** For what writes the head of the answer without them. */
function setHeaders(response: ServerResponse, headers: CommonHeaders): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
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

/** Forms are refused: a browser sends them for a foreign page without a preflight, and with the cookie. */
const graphqlTypes = [
  'application/json',
  'application/graphql+json',
  'application/graphql',
] as const

function refusedGraphql(status: number, error: BodyError | QueryParameterMalformed): RestResponse {
  return { ...json(status, { errors: [toGraphQL(error).toJSON()] }), code: error.code }
}

/** The GraphQL server reads these two of a GET, and reports invalid JSON as an internal error. */
function unreadableParameter(query: string): QueryParameterMalformed | undefined {
  const parameters = new URLSearchParams(query)
  const name = ['variables', 'extensions'].find((one) => {
    const text = parameters.get(one)
    return text !== null && text !== '' && !parseJson(Buffer.from(text)).ok
  })
  const expected = 'a JSON object'
  return name === undefined ? undefined : { code: 'QUERY_PARAMETER_MALFORMED', name, expected }
}

/** Whether a browser opens the path, rather than a program. */
function wantsPage({ method, headers }: IncomingMessage): boolean {
  return (method === 'GET' || method === 'HEAD') && (headers.accept ?? '').includes('text/html')
}

/** Redirects a browser from the root to GraphiQL. Relative, for a proxy may add a path prefix. */
function sendToPage(response: ServerResponse, common: CommonHeaders): void {
  send(response, { status: 302, headers: { location: graphqlPath.slice(1) }, body: '' }, common)
}

async function sendPage(
  message: IncomingMessage,
  response: ServerResponse,
  common: CommonHeaders,
): Promise<void> {
  const { headers, plain, gzip } = await graphiqlPage()
  const compressed = /\bgzip\b/.test(message.headers['accept-encoding']?.toString() ?? '')
  const body = compressed ? gzip : plain
  const encoding = compressed ? { 'content-encoding': 'gzip' } : {}
  send(response, { status: 200, headers: { ...headers, ...encoding }, body }, common)
}

/** Listens; resolves with the system's reason where it is refused. */
function listen(server: Server, { host, port }: HttpAddress): Promise<string | undefined> {
  return new Promise((resolve) => {
    const refuse = (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message)
    server.once('error', refuse)
    server.listen({ host, port }, () => {
      server.off('error', refuse)
      resolve(undefined)
    })
  })
}

/** The URL with the real port; 0.0.0.0 is printed as 127.0.0.1, and :: as ::1. */
function urlOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}

import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { GraphQLSchema } from 'graphql'
import type { Log } from '../lib/log.ts'
import { err, ok, type Result } from '../lib/result.ts'
import { within } from '../lib/tracing.ts'
import { turnOf } from '../lib/turns.ts'
import { storeAwayOf } from '../service/network/database-away.ts'
import type { Services } from '../service/services.ts'
import { type AnswerCache, openAnswerCache } from './answer-cache.ts'
import { watchAnswers } from './answers.ts'
import { type AuthDeps, callerOf, credentialsOf } from './auth.ts'
import type { TrustedProxies } from './client-address.ts'
import { type Clients, createClients } from './clients.ts'
import { earlyRefusal, isProbe } from './early-refusal.ts'
import { toRest } from './errors.ts'
import { type Explorer, explorerAnswer } from './explorer.ts'
import { createDirectAnswers, type DirectAnswers } from './graphql/direct.ts'
import { createDocuments, type TrustedDocuments } from './graphql/documents.ts'
import { graphiqlPage } from './graphql/graphiql.ts'
import { bytesOfUnit } from './graphql/prices.ts'
import { refusedGraphql } from './graphql/refused.ts'
import { createGraphqlServer, type GraphqlServer } from './graphql/server.ts'
import { answerGraphql, type CommonHeaders } from './graphql-request.ts'
import { createOccupancy, type Occupancy, type TransportLimits } from './limits.ts'
import { type Listeners, openListeners } from './listeners.ts'
import { type MqttTransport, mqttPath, openMqtt } from './mqtt/broker.ts'
import { noteRefusal, type Observation } from './observation.ts'
import { createObserver, type Observer } from './observer.ts'
import { watchOpenFiles } from './open-files.ts'
import { ignoreUpgrade, refuseTunnels, wantsWebSocket } from './other-protocols.ts'
import { watchOverload } from './overload.ts'
import { readInPieces } from './paced-reading.ts'
import { openPolicies, originHeaders, type Policies, policyProblem } from './policies.ts'
import { type RouteTable, tableOf } from './rest/match.ts'
import { send, sendInTurnsOf } from './rest/respond.ts'
import type { RouteResponse } from './rest/response.ts'
import type { Route } from './rest/route.ts'
import { answer } from './rest/router.ts'
import { limitSockets, openFileLimit } from './sockets.ts'
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
  /** The only documents that are answered, beside those of the explorer; without it all are. */
  readonly trustedDocuments?: TrustedDocuments | undefined
  /** What browsers and strangers may do; everything by default. */
  readonly policies?: Policies | undefined
  /** Whose word on the addresses of clients counts; no one's by default. */
  readonly proxies?: TrustedProxies | undefined
  /** What browsers are shown at the root; without it they are led to GraphiQL. */
  readonly explorer?: Explorer | undefined
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
  /** Whether it is about to stop. */
  isStopping(): boolean
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
  const documents = createDocuments(deps.trustedDocuments, deps.explorer?.documents)
  const { hasIntrospection } = policies
  const graphql = createGraphqlServer({ ...deps, documents, hasIntrospection })
  const drain = new AbortController()
  // Every connection has a listener on it, and Node reports more than ten as a leak.
  setMaxListeners(0, drain.signal)
  const overload = watchOverload(deps.limits.loopDelayMs, deps.log)
  const { isOverloaded } = overload
  const limited = { draining: drain.signal, isOverloaded }
  const occupancy = createOccupancy(deps.limits, limited, deps.log)
  const { proxies = { kind: 'none' } } = given
  const clients = createClients(deps.limits, proxies)
  const listeners = openListeners({ ...deps, graphql, documents, occupancy, clients })
  // Opened once the server listens: it begins to read the ledger at once.
  let mqtt: MqttTransport | undefined
  const { underWay } = occupancy
  const kept = openAnswerCache(deps.services)
  const direct = createDirectAnswers({ ...deps, graphql, documents, underWay, answers: kept })
  const routes = tableOf(deps.routes)
  const inHand = { ...deps, routes, graphql, direct, kept, occupancy, listeners, clients }
  const answers = watchAnswers(() => reading)
  const take = async (message: IncomingMessage, response: ServerResponse) => {
    answers.add(response)
    if (message.socket.destroyed) return
    const name = clients.nameOf(message)
    sendInTurnsOf(name, response)
    await turnOf(name)
    // Its client may have left meanwhile.
    if (!message.destroyed) await observe(inHand, message, response)
  }
  const { requestMs } = deps.limits
  // Looked at twice in its time, as Node does by default.
  const timeouts = { requestTimeout: requestMs, connectionsCheckingInterval: requestMs / 2 }
  const server = createServer({ ...serverOptions, ...timeouts }, take).on('checkExpectation', take)
  answerUnreadable(server)
  refuseTunnels(server)
  limitSockets(server, { limits: deps.limits, proxies, openFiles: openFileLimit() }, deps.log)
  const reading = readInPieces(server, proxies)
  const stalledWrites = cutStalledWrites(server, deps.limits, deps.log)
  takeUpgrades(server, { policies, clients }, (path) => {
    if (path === graphqlPath) return listeners
    return path === mqttPath ? mqtt : undefined
  })
  const refused = await listen(server, address)
  if (refused !== undefined) {
    stalledWrites.close()
    overload.close()
    await listeners.close(0, 0)
    return err({ code: 'CANNOT_LISTEN', ...address, reason: refused })
  }
  const opened = await openMqtt({ ...deps, occupancy, clients })
  mqtt = opened
  const openFiles = watchOpenFiles(server, deps.log)
  return ok({
    url: urlOf(server, address.host),
    announceStop: () => {
      occupancy.isStopping = true
    },
    isStopping: () => occupancy.isStopping,
    load: () => {
      const { subscriptions } = occupancy
      return { ...listeners.load(), mqtt: opened.connections(), subscriptions }
    },
    close: async ({ windowMs, graceMs }) => {
      occupancy.isStopping = true
      drain.abort()
      answers.closeBehind()
      openFiles.close()
      overload.close()
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

/** Passes requests to upgrade to the transport of their path, in the turns of their clients. */
function takeUpgrades(
  server: Server,
  { policies, clients }: Pick<RequestDeps, 'policies' | 'clients'>,
  transportAt: (path: string) => Pick<Listeners, 'upgrade'> | undefined,
): void {
  server.on('upgrade', async (request, socket, head) => {
    const fail = () => void socket.destroy()
    socket.on('error', fail)
    await turnOf(clients.nameOf(request))
    socket.off('error', fail)
    if (socket.destroyed) return
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
  readonly kept: AnswerCache
  readonly occupancy: Occupancy
  readonly listeners: Listeners
  readonly clients: Clients
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
  const reply = (answered: RouteResponse, headers: CommonHeaders = common) => {
    noteRefusal(observation, answered)
    send(response, answered, headers)
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
    const isOpened = wantsPage(message)
    const shown = explorerAnswer(deps.explorer, message, path, isOpened)
    if (shown !== undefined) return reply(shown)
    const sent = credentialsOf(message.headers)
    const caller = callerOf(deps.auth, sent)
    const asking = deps.clients.of(message, sent, caller)
    const client = asking instanceof Promise ? await asking : asking
    const { share } = client
    const isFree = isProbe(path)
    const early = earlyRefusal(deps.occupancy, client, { message, path, query })
    if (early !== undefined) {
      const refusal = path === graphqlPath ? refusedGraphql(early) : toRest(early)
      return reply(refusal, { ...common, ...share.headers() })
    }
    const isPage = policies.hasGraphiql && isOpened
    if (path === '/' && isPage) return sendToPage(response, common)
    if (path !== graphqlPath) {
      const { occupancy } = deps
      const asked = { message, path, query, caller, client, requestId, occupancy, observation }
      const found = await answer(deps, { ...asked, share: isFree ? undefined : share })
      return reply(found, isFree ? common : { ...common, ...share.headers() })
    }
    observation.route = graphqlPath
    if (isPage) {
      const page = await graphiqlPage(deps.services)
      reply(page)
      if (response.statusCode === 200) share.charge(page.body.length / bytesOfUnit)
      return
    }
    await answerGraphql(deps, { message, response, query, caller, client, common, observation })
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

/** Whether a browser opens the path, rather than a program. */
function wantsPage({ method, headers }: IncomingMessage): boolean {
  return isRead(method) && (headers.accept ?? '').includes('text/html')
}

function isRead(method: string | undefined): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Redirects a browser from the root to GraphiQL. Relative, for a proxy may add a path prefix. */
function sendToPage(response: ServerResponse, common: CommonHeaders): void {
  send(response, { status: 302, headers: { location: graphqlPath.slice(1) }, body: '' }, common)
}

/**
 * Connections that the system keeps until they are accepted, or as many as it allows. Where there is no place for another one, its client
 * hears nothing and tries again after a second.
 */
const mostUnaccepted = 4_096

/** Listens; resolves with the system's reason where it is refused. */
function listen(server: Server, { host, port }: HttpAddress): Promise<string | undefined> {
  return new Promise((resolve) => {
    const refuse = (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message)
    server.once('error', refuse)
    server.listen({ host, port, backlog: mostUnaccepted }, () => {
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

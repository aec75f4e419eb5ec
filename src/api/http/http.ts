import { setMaxListeners } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { GraphQLSchema } from 'graphql'
import { type ListenAddress, listen } from '../../lib/listen.ts'
import type { Log } from '../../lib/log.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { turnOf } from '../../lib/turns.ts'
import type { Services } from '../../service/services.ts'
import type { TrustedProxies } from '../clients/client-address.ts'
import { createClients } from '../clients/clients.ts'
import { toRest } from '../errors/errors.ts'
import type { Explorer } from '../explorer.ts'
import { createDirectAnswers } from '../graphql/execution/direct.ts'
import { createDocuments, type TrustedDocuments } from '../graphql/execution/documents.ts'
import { createGraphqlServer } from '../graphql/server.ts'
import { createOccupancy, type TransportLimits } from '../limits.ts'
import { type MqttTransport, mqttPath, openMqtt } from '../mqtt/broker.ts'
import { createObserver, type Observer } from '../observer.ts'
import { watchOverload } from '../overload.ts'
import { openPolicies, type Policies, policyProblem } from '../policies.ts'
import { openResponseCache } from '../response-cache.ts'
import { type ResponseTracker, trackResponses } from '../response-tracker.ts'
import { tableOf } from '../rest/match.ts'
import { sendInTurnsOf } from '../rest/respond.ts'
import type { Route } from '../rest/route.ts'
import { limitSockets, openFileLimit } from '../streams/sockets.ts'
import { refuseUpgrade } from '../streams/ws.ts'
import type { AuthDeps } from '../tokens/auth.ts'
import { graphqlPath, observeRequest, type RequestDeps, splitTarget } from './http-requests.ts'
import { type Listeners, openListeners } from './listeners.ts'
import { watchOpenFiles } from './open-files.ts'
import { ignoreUpgrade, refuseTunnels, wantsWebSocket } from './other-protocols.ts'
import { readInPieces } from './paced-reading.ts'
import { cutStalledWrites } from './stalled-writes.ts'
import { answerUnreadable, headProblem, maxHeadBytes } from './unreadable.ts'

/** The HTTP server: GraphQL, GraphiQL and WebSocket at `/graphql`, MQTT, the explorer, and the REST routes. */

export interface HttpDeps {
  readonly schema: GraphQLSchema
  readonly routes: readonly Route[]
  readonly services: Services
  readonly auth: AuthDeps
  readonly limits: TransportLimits
  /** The documents that are executed besides those of the explorer; all documents by default. */
  readonly trustedDocuments?: TrustedDocuments | undefined
  /** What browsers and unknown clients may do; everything by default. */
  readonly policies?: Policies | undefined
  /** The proxies that are trusted to report client addresses; none by default. */
  readonly proxies?: TrustedProxies | undefined
  /** The explorer, served to browsers at the root; without it the root redirects to GraphiQL. */
  readonly explorer?: Explorer | undefined
  readonly log: Log
  /** Observes requests and operations; by default they are neither measured nor logged. */
  readonly observer?: Observer | undefined
}

export interface HttpServer {
  /** The URL of the root, without a trailing slash. */
  readonly url: string
  /** Makes readiness checks fail, and continues to serve. */
  announceStop(): void
  /** Whether the server is about to stop. */
  isStopping(): boolean
  load(): TransportLoad
  /**
   * Accepts no more connections, closes subscriptions spread over `windowMs`, waits at most `graceMs` for running requests, and
   * then cuts their connections.
   */
  close(times: { readonly windowMs: number; readonly graceMs: number }): Promise<void>
}

/** The open connections and subscriptions by transport. */
export interface TransportLoad {
  readonly websocket: number
  readonly eventStream: number
  readonly mqtt: number
  /** Subscriptions of all transports, and long polls. */
  readonly subscriptions: number
}

export interface ListenError extends ListenAddress {
  readonly code: 'CANNOT_LISTEN'
  /** The error code of the operating system, such as `EADDRINUSE`. */
  readonly reason: string
}

/**
 * Milliseconds until an idle connection is closed. Load balancers keep theirs open for a minute, and a request that they send
 * while the server closes the connection would be lost.
 */
const idleTimeoutMs = 65_000

const serverOptions = {
  keepAliveTimeout: idleTimeoutMs,
  maxHeaderSize: maxHeadBytes,
  // `headProblem` refuses a missing header with a JSON body instead.
  requireHostHeader: false,
}

export async function openHttp(
  given: HttpDeps,
  address: ListenAddress,
): Promise<Result<HttpServer, ListenError>> {
  const drain = new AbortController()
  // Every connection listens to the signal, and Node reports more than ten listeners as a leak.
  setMaxListeners(0, drain.signal)
  const overload = watchOverload(given.limits.loopDelayMs, given.log)
  const { isOverloaded } = overload
  const deps = createRequestDeps(given, { draining: drain.signal, isOverloaded })
  const { listeners, occupancy, log } = deps
  // Opened after the server listens, because it begins to read the ledger at once.
  let mqtt: MqttTransport | undefined
  const { server, responses, stalledWrites } = createHttpServer(deps, (path) => {
    if (path === graphqlPath) return listeners
    return path === mqttPath ? mqtt : undefined
  })
  const { host, port } = address
  const refused = await listen(server, { host, port, backlog: maxBacklog })
  if (refused !== undefined) {
    stalledWrites.close()
    overload.close()
    await listeners.close(0, 0)
    return err({ code: 'CANNOT_LISTEN', ...address, reason: refused })
  }
  const opened = await openMqtt(deps)
  mqtt = opened
  const openFiles = watchOpenFiles(server, log)
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
      responses.announceClose()
      openFiles.close()
      overload.close()
      await Promise.all([listeners.close(windowMs, graceMs), opened.close(windowMs)])
      await closeServer(server, graceMs)
      stalledWrites.close()
      await deps.graphql.dispose()
    },
  })
}

interface ServerDeps extends RequestDeps {
  readonly proxies: TrustedProxies
}

/** Creates everything that handling a request needs. */
function createRequestDeps(
  given: HttpDeps,
  load: { readonly draining: AbortSignal; readonly isOverloaded: () => boolean },
): ServerDeps {
  const { policies = openPolicies, observer = createObserver({ ...given, slowMs: 0 }) } = given
  const { proxies = { kind: 'none' } } = given
  const deps = { ...given, policies, observer, proxies }
  const documents = createDocuments(deps.trustedDocuments, deps.explorer?.documents)
  const { hasIntrospection } = policies
  const graphql = createGraphqlServer({ ...deps, documents, hasIntrospection })
  const occupancy = createOccupancy(deps.limits, load, deps.log)
  const clients = createClients(deps.limits, proxies)
  const listeners = openListeners({ ...deps, graphql, documents, occupancy, clients })
  const { runningOperations } = occupancy
  const responseCache = openResponseCache(deps.services)
  const direct = createDirectAnswers({
    ...deps,
    graphql,
    documents,
    runningOperations,
    responseCache,
  })
  const routes = tableOf(deps.routes)
  return {
    ...{ ...deps, routes, graphql, documents, direct, responseCache },
    ...{ occupancy, listeners, clients },
  }
}

/** Creates the server with its limits and timeouts. It does not listen yet. */
function createHttpServer(
  deps: ServerDeps,
  transportAt: (path: string) => Pick<Listeners, 'upgrade'> | undefined,
) {
  const { limits, log, clients, proxies } = deps
  const responses = trackResponses(() => reading)
  const handleInTurn = async (message: IncomingMessage, response: ServerResponse) => {
    const before = responses.add(response)
    if (before !== undefined) await before
    if (message.socket.destroyed) return
    const name = clients.nameOf(message)
    sendInTurnsOf(name, response)
    await turnOf(name)
    // The client may have closed the connection while the request was queued.
    if (!message.destroyed) await observeRequest(deps, message, response)
  }
  const { requestMs } = limits
  // Two checks per timeout, as Node does by default.
  const timeouts = { requestTimeout: requestMs, connectionsCheckingInterval: requestMs / 2 }
  const server = createServer({ ...serverOptions, ...timeouts }, handleInTurn).on(
    'checkExpectation',
    handleInTurn,
  )
  answerUnreadable(server)
  refuseTunnels(server)
  limitSockets(server, { limits, proxies, openFiles: openFileLimit() }, log)
  const reading = readInPieces(server, proxies)
  const stalledWrites = cutStalledWrites(server, limits, log)
  routeUpgrades(server, { ...deps, responses }, transportAt)
  return { server, responses, stalledWrites }
}

/** Closes the server, and cuts the connections of requests that still run after `graceMs`. */
async function closeServer(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  const cut = setTimeout(() => server.closeAllConnections(), graceMs)
  server.closeIdleConnections()
  await closed
  clearTimeout(cut)
}

interface UpgradeDeps extends Pick<RequestDeps, 'policies' | 'clients'> {
  readonly responses: ResponseTracker
}

/** Passes upgrade requests to the transport of their path, in the turns of their clients and after the responses before them. */
function routeUpgrades(
  server: Server,
  { policies, clients, responses }: UpgradeDeps,
  transportAt: (path: string) => Pick<Listeners, 'upgrade'> | undefined,
): void {
  server.on('upgrade', async (request, socket, head) => {
    const fail = () => void socket.destroy()
    socket.on('error', fail)
    await responses.before(request)
    await turnOf(clients.nameOf(request))
    socket.off('error', fail)
    if (socket.destroyed) return
    const target = request.url ?? '/'
    const transport = transportAt(splitTarget(target).path)
    if (!wantsWebSocket(request)) return ignoreUpgrade(server, request, socket, head)
    const problem = headProblem(request) ?? policyProblem(policies, request.headers, true)
    if (problem !== undefined) refuseUpgrade(socket, toRest(problem))
    else if (transport !== undefined) transport.upgrade(request, socket, head)
    else refuseUpgrade(socket, toRest({ code: 'PATH_UNKNOWN', path: target }))
  })
}

/**
 * Backlog of connections that the operating system holds until they are accepted; the system may lower it. When the backlog is
 * full, a new client gets no reply and retries after a second.
 */
const maxBacklog = 4_096

/** Returns the URL with the actual port; 0.0.0.0 becomes 127.0.0.1, and :: becomes ::1. */
function urlOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}

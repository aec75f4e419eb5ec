import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server } from 'node:http'
import { type ExecutionArgs, GraphQLError } from 'graphql'
import {
  CloseCode,
  type Context,
  handleProtocols,
  makeServer,
  type SubscribePayload,
} from 'graphql-ws'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Log } from '../lib/log.ts'
import type { Services } from '../service/services.ts'
import { type AuthDeps, type Credentials, callerOf } from './auth.ts'
import { messageOf } from './errors.ts'
import type { GatewayContext } from './graphql/builder.ts'
import { maskErrors } from './graphql/masking.ts'
import type { GraphqlServer } from './graphql/server.ts'
import { maxBodyBytes } from './rest/body.ts'

/** GraphQL over WebSocket, by the graphql-transport-ws protocol, on the path of the HTTP door. */

/** What the WebSocket door needs. */
export interface WebSocketDeps {
  readonly server: Server
  readonly path: string
  readonly graphql: GraphqlServer
  readonly services: Services
  readonly auth: AuthDeps
  readonly log: Log
}

/** An open WebSocket door. */
export interface WebSocketDoor {
  /** Tells every client to go and come again, and cuts those that are still there after `graceMs`. */
  close(graceMs: number): Promise<void>
}

/** A client that does not answer a ping until the next one is gone. */
const pingMs = 12_000

/** Opens the door on a server. */
export function openWebSocket(deps: WebSocketDeps): WebSocketDoor {
  const { server, path, log } = deps
  const sockets = new WebSocketServer({
    server,
    path,
    maxPayload: maxBodyBytes,
    handleProtocols,
  })
  // The HTTP server tells its own errors; the WebSocket server repeats them, and without an ear the process would end.
  sockets.on('error', (error) => log.debug('websocket-server-error', { error }))
  const protocol = makeProtocol(deps)
  const silent = new WeakSet<WebSocket>()
  sockets.on('connection', (socket, request) => {
    socket.on('pong', () => silent.delete(socket))
    serve(protocol, socket, request, log)
  })
  const pings = setInterval(() => {
    for (const socket of sockets.clients) {
      if (silent.has(socket)) socket.terminate()
      silent.add(socket)
      socket.ping()
    }
  }, pingMs)
  return {
    close: async (graceMs) => {
      clearInterval(pings)
      const closed = new Promise<void>((resolve) => sockets.close(() => resolve()))
      // A code that clients take as a reason to come again.
      for (const socket of sockets.clients) socket.close(1001, 'Going away')
      const cut = setTimeout(() => {
        for (const socket of sockets.clients) socket.terminate()
      }, graceMs)
      await closed
      clearTimeout(cut)
    },
  }
}

interface Extra {
  readonly request: IncomingMessage
}

type Protocol = ReturnType<typeof makeProtocol>

/** The rules of the protocol, with our parser, validator and executor. */
function makeProtocol(deps: WebSocketDeps) {
  const { graphql, log } = deps
  return makeServer<Record<string, unknown>, Extra>({
    onSubscribe: (context, _id, payload) => prepare(deps, context, payload),
    execute: (args) => enveloped(graphql, args).execute(args),
    subscribe: (args) => enveloped(graphql, args).subscribe(args),
    onNext: (_context, _id, _payload, args, result) => {
      if (result.errors === undefined) return
      const { requestId } = contextOf(args)
      const errors = maskErrors({ log, requestId }, result.errors).map((error) => error.toJSON())
      // A request that never began has no data, which is not the same as no result.
      return { errors, ...(result.data !== undefined && { data: result.data }) }
    },
    onError: (_context, _id, _payload, errors) =>
      maskErrors({ log, requestId: randomUUID() }, errors).map((error) => error.toJSON()),
  })
}

/** Reads and validates an operation. An exception here would close the whole socket, so there is none. */
function prepare(
  deps: WebSocketDeps,
  { connectionParams, extra }: Context<Record<string, unknown>, Extra>,
  { query, operationName, variables }: SubscribePayload,
): ExecutionArgs | readonly GraphQLError[] {
  const { graphql, auth, services, log } = deps
  const requestId = randomUUID()
  const caller = callerOf(auth, credentialsOf(connectionParams, extra.request))
  const contextValue: GatewayContext = { caller, services, requestId }
  try {
    const { schema, parse, validate } = graphql.getEnveloped(contextValue)
    const document = parse(query)
    const errors = validate(schema, document)
    if (errors.length > 0) return errors
    return { schema, document, contextValue, operationName, variableValues: variables }
  } catch (error) {
    if (error instanceof GraphQLError) return [error]
    log.error('request-failed', { requestId, error })
    const internal = { code: 'INTERNAL', requestId } as const
    return [new GraphQLError(messageOf(internal), { extensions: internal })]
  }
}

/** What was put there by `prepare`. */
function contextOf(args: ExecutionArgs): GatewayContext {
  return args.contextValue as GatewayContext
}

function enveloped(graphql: GraphqlServer, args: ExecutionArgs) {
  return graphql.getEnveloped(contextOf(args))
}

/**
 * The token of a connection: `Authorization` among the connection's parameters, else in the upgrade request. A browser
 * sends its cookie to any host that a page names, so the cookie counts only for a page of this host.
 */
function credentialsOf(
  params: Record<string, unknown> | undefined,
  { headers }: IncomingMessage,
): Credentials {
  const named = params?.Authorization ?? params?.authorization
  const authorization = typeof named === 'string' ? named : headers.authorization
  return { authorization, cookie: isSameHost(headers) ? headers.cookie : undefined }
}

function isSameHost({ origin, host }: IncomingMessage['headers']): boolean {
  return origin === undefined || origin === `http://${host}` || origin === `https://${host}`
}

/** Ties one socket to the protocol. What is sent is awaited, so that a slow reader is not written to faster than it reads. */
function serve(protocol: Protocol, socket: WebSocket, request: IncomingMessage, log: Log): void {
  const closed = protocol.opened(
    {
      protocol: socket.protocol,
      send: (text) => sendText(socket, text),
      close: (code, reason) => socket.close(code, reason),
      onMessage: (receive) =>
        socket.on('message', (bytes) => {
          receive(String(bytes)).catch((error: unknown) => {
            log.error('websocket-failed', { error })
            socket.close(CloseCode.InternalServerError, 'Internal server error')
          })
        }),
    },
    { request },
  )
  // A frame that is too long or no frame at all: the library closes the socket with the right code by itself.
  socket.on('error', (error) => log.debug('websocket-error', { error }))
  socket.once('close', (code, reason) => {
    closed(code, String(reason)).catch((error: unknown) => log.error('websocket-failed', { error }))
  })
}

function sendText(socket: WebSocket, text: string): Promise<void> {
  return new Promise((resolve) => {
    // A socket that is closing takes nothing more; the end of its subscriptions follows by `close`.
    if (socket.readyState !== socket.OPEN) return resolve()
    socket.send(text, () => resolve())
  })
}

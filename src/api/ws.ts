import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { CloseCode, handleProtocols, MessageType } from 'graphql-ws'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Log } from '../lib/log.ts'
import { turnOf } from '../lib/turns.ts'
import { type Credentials, credentialsOf } from './auth.ts'
import { connectionCost } from './client-shares.ts'
import type { Client, Clients } from './clients.ts'
import { spread } from './drain.ts'
import { toRest } from './errors.ts'
import { bytesOfUnit } from './graphql/prices.ts'
import type { Heartbeat } from './heartbeat.ts'
import { connectionRefusal, maxUnsentAnswers, occupy } from './limits.ts'
import { maxBodyBytes, parseJson } from './rest/body.ts'
import type { RestResponse } from './rest/response.ts'
import { type Connection, createConnection } from './ws-connection.ts'
import { createPongs } from './ws-pongs.ts'
import { createProtocol, type Protocol, type ProtocolDeps } from './ws-protocol.ts'

/** GraphQL over WebSocket, by the graphql-transport-ws protocol, on the path of GraphQL over HTTP. */

export interface WebSocketDeps extends ProtocolDeps {
  readonly clients: Clients
  readonly heartbeat: Heartbeat
}

/** The open WebSocket transport. */
export interface WebSocketTransport {
  /** Accepts a request to upgrade, or refuses it. */
  upgrade(request: IncomingMessage, duplex: Duplex, head: Buffer): void
  /** How many connections are open. */
  connections(): number
  /**
   * Closes every connection with a code after which clients reconnect, spread evenly over `windowMs`, and cuts those that
   * are still open after `graceMs` more.
   */
  close(windowMs: number, graceMs: number): Promise<void>
}

/** Opens the transport. */
export function openWebSocket(deps: WebSocketDeps): WebSocketTransport {
  const { log, occupancy, heartbeat, clients } = deps
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: maxBodyBytes,
    handleProtocols,
    // Hundreds of messages may come with the same bytes; requests of others have their turns between them.
    allowSynchronousEvents: false,
  })
  const protocol = createProtocol(deps)

  function upgrade(request: IncomingMessage, duplex: Duplex, head: Buffer): void {
    const client = clients.byAddress(request)
    const refusal = connectionRefusal(occupancy, client.name) ?? client.share.take(connectionCost)
    if (refusal !== undefined) {
      refuseUpgrade(duplex, toRest(refusal))
      return
    }
    const origin = { credentials: credentialsOf(request.headers), client }
    sockets.handleUpgrade(request, duplex, head, (socket) => accept(socket, duplex, origin))
  }

  // A scope of its own, so that the connection does not keep its upgrade request in memory.
  function accept(
    socket: WebSocket,
    duplex: Duplex,
    origin: { readonly credentials: Credentials; readonly client: Client },
  ): void {
    const connection = createConnection(socket, duplex, origin)
    occupy(occupancy, connection.client.name, { connections: 1 })
    const forget = heartbeat.add(connection)
    socket.once('close', () => {
      occupy(occupancy, connection.client.name, { connections: -1 })
      forget()
      connection.forgetToken?.()
    })
    serve(protocol, connection, log)
  }

  async function close(windowMs: number, graceMs: number): Promise<void> {
    await spread([...sockets.clients], windowMs, (socket) => {
      // A code after which clients reconnect.
      socket.close(goingAway, 'Going away')
    })
    const cut = setTimeout(() => {
      for (const socket of sockets.clients) socket.terminate()
    }, graceMs)
    await new Promise<void>((resolve) => sockets.close(() => resolve()))
    clearTimeout(cut)
  }

  return { upgrade, connections: () => sockets.clients.size, close }
}

const goingAway = 1001

/** Connects one socket with the protocol. Sending is awaited, so that nothing is written faster than the client reads. */
function serve(protocol: Protocol, connection: Connection, log: Log): void {
  const { socket, duplex } = connection
  duplex.on('drain', () => readOn(connection))
  let received = 0
  const closed = protocol.opened(
    {
      protocol: socket.protocol,
      send: (text) => sendText(connection, text, log),
      close: (code, reason) => socket.close(code, reason),
      onPing: createPongs(socket, () => received),
      onMessage: (receive) =>
        socket.on('message', (bytes: Buffer) => {
          connection.isSilent = false
          connection.unhandledBytes += bytes.length + bytesPerMessage
          readNoFaster(connection)
          const take = (text: string) => {
            received = text.length
            return receive(text)
          }
          takeMessage(connection, bytes, take).catch((error: unknown) => {
            if (isServersMessage(error)) {
              socket.close(CloseCode.BadRequest, 'Invalid message received')
              return
            }
            log.error('websocket-failed', { error })
            socket.close(CloseCode.InternalServerError, 'Internal server error')
          })
        }),
    },
    connection,
  )
  socket.on('pong', () => {
    connection.isSilent = false
  })
  // A frame that is too long or no frame at all: the library closes the socket with the right code by itself.
  socket.on('error', (error) => log.debug('websocket-error', { error }))
  socket.once('close', (code, reason) => {
    closed(code, String(reason)).catch((error: unknown) => log.error('websocket-failed', { error }))
  })
}

/** Handles a message when it is the turn of its client, in the order in which they came. */
async function takeMessage(
  connection: Connection,
  bytes: Buffer,
  receive: (text: string) => Promise<void>,
): Promise<void> {
  const { socket, client } = connection
  await turnOf(client.name)
  connection.unhandledBytes -= bytes.length + bytesPerMessage
  readOn(connection)
  if (socket.readyState !== socket.OPEN) return
  const text = String(bytes)
  client.share.charge(messageCost + text.length / bytesOfUnit)
  endOperation(connection, text)
  await receive(text)
}

/**
 * Stops reading from a client that does not read its answers, until they have left, or that sends faster than it has turns: its
 * requests would pile up. Feeds apply backpressure by themselves.
 */
function readNoFaster(connection: Connection): void {
  if (!isInStep(connection)) connection.socket.pause()
}

function readOn(connection: Connection): void {
  if (connection.socket.isPaused && isInStep(connection)) connection.socket.resume()
}

function isInStep({ duplex, unhandledBytes }: Connection): boolean {
  return duplex.writableLength <= maxUnsentBytes && unhandledBytes <= maxUnhandledBytes
}

/** Messages of one socket that wait for a turn: 64 short ones, or one that is long. */
const maxUnhandledBytes = 65_536
const bytesPerMessage = 1_024

/** Reading a message, whatever it says. */
const messageCost = 1

const maxUnsentBytes = 1024 * 1024
/** The library drops the answer of a query that its client has completed, but lets the query run: here it ends. */
function endOperation({ underWay }: Connection, text: string): void {
  if (underWay.size === 0 || text.length > longestComplete || !text.includes('"complete"')) return
  const message = parseJson(Buffer.from(text))
  const { type, id }: Partial<Record<string, unknown>> = Object(message.ok ? message.value : null)
  if (type === MessageType.Complete) underWay.get(String(id))?.leave()
}

/** Longer messages begin operations, which have texts. */
const longestComplete = 1_000

/** Whether the library threw for a message of the protocol that only a server may send. */
function isServersMessage(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Unexpected message of type')
}

/** What waits for a client is bounded: it may have asked for a hundred answers before it got the first, and read none. */
function sendText(
  { socket, duplex }: Connection,
  text: string,
  log: Pick<Log, 'debug'>,
): Promise<void> {
  return new Promise((resolve) => {
    // A closing socket accepts no more; its subscriptions end with `close`.
    if (socket.readyState !== socket.OPEN) return resolve()
    if (duplex.writableLength <= maxUnsentAnswers) {
      socket.send(text, () => resolve())
      return
    }
    log.debug('answers-unread', { unsentBytes: duplex.writableLength })
    socket.terminate()
    resolve()
  })
}

/** Refuses an upgrade with the status, headers and body that a plain request would get. */
export function refuseUpgrade(duplex: Duplex, { status, headers, body }: RestResponse): void {
  const lines = Object.entries({ ...headers, connection: 'close' }).map((pair) => pair.join(': '))
  const length = `content-length: ${Buffer.byteLength(body)}`
  duplex.once('error', () => duplex.destroy())
  duplex.end(
    [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, length, '', body].join('\r\n'),
  )
}

import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { CloseCode, handleProtocols } from 'graphql-ws'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Log } from '../../lib/log.ts'
import { turnOf } from '../../lib/turns.ts'
import { connectionCost } from '../clients/client-shares.ts'
import type { Client, Clients } from '../clients/clients.ts'
import { toRest } from '../errors/errors.ts'
import { bytesOfUnit } from '../graphql/execution/prices.ts'
import { spread } from '../http/drain.ts'
import { connectionRefusal, maxUnsentAnswers, occupy } from '../limits.ts'
import { hasTooManyValues, maxBodyBytes, tooManyValues } from '../rest/body.ts'
import type { RestResponse } from '../rest/response.ts'
import { type Credentials, credentialsOf } from '../tokens/auth.ts'
import type { Heartbeat } from './heartbeat.ts'
import { type Connection, createConnection } from './ws-connection.ts'
import { endBefore, noteBegun } from './ws-ids.ts'
import { createPongs } from './ws-pongs.ts'
import { createProtocol, type Protocol, type ProtocolDeps } from './ws-protocol.ts'

/** GraphQL over WebSocket, with the graphql-transport-ws protocol, on the same path as GraphQL over HTTP. */

/** Maximum number of fragments of a message. The library holds each until the last one arrives, with up to 4 KiB that came with it. */
export const maxFragments = 1_024

/** The options of WebSockets of all protocols that limit the pieces in which a message may arrive. */
export const pieceLimits = {
  maxFragments,
  // Reads of one frame. Each takes some hundred bytes more than it brings, and a client may send single bytes.
  maxBufferedChunks: 4_096,
}

export interface WebSocketDeps extends ProtocolDeps {
  readonly clients: Clients
  readonly heartbeat: Heartbeat
}

export interface WebSocketTransport {
  /** Accepts or refuses an upgrade request. */
  upgrade(request: IncomingMessage, duplex: Duplex, head: Buffer): void
  /** Returns the number of open connections. */
  connections(): number
  /**
   * Closes every connection with a code after which clients reconnect, spread evenly over `windowMs`, and cuts those that
   * are still open `graceMs` later.
   */
  close(windowMs: number, graceMs: number): Promise<void>
}

export function openWebSocket(deps: WebSocketDeps): WebSocketTransport {
  const { log, occupancy, heartbeat, clients } = deps
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: maxBodyBytes,
    ...pieceLimits,
    handleProtocols,
    // One read may contain hundreds of messages; requests of other clients get their turns in between.
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

  // A function of its own, so that no closure of the connection holds the upgrade request in memory.
  function accept(
    socket: WebSocket,
    duplex: Duplex,
    origin: { readonly credentials: Credentials; readonly client: Client },
  ): void {
    const connection = createConnection(socket, duplex, origin)
    occupy(occupancy, connection.client.name, { connections: 1 })
    const forget = heartbeat.add(connection)
    socket.on('close', () => {
      occupy(occupancy, connection.client.name, { connections: -1 })
      forget()
      connection.forgetToken?.()
    })
    serve(protocol, connection, log)
  }

  async function close(windowMs: number, graceMs: number): Promise<void> {
    await spread([...sockets.clients], windowMs, (socket) => {
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

/** The code of a close after which clients reconnect. */
export const goingAway = 1001

/** Connects a socket to the protocol. The protocol awaits each send, so that it does not write faster than the client reads. */
function serve(protocol: Protocol, connection: Connection, log: Log): void {
  const { socket, duplex } = connection
  duplex.on('drain', () => resumeReading(connection))
  const closed = protocol.opened(
    {
      protocol: socket.protocol,
      send: (text) => sendText(connection, text, log),
      close: (code, reason) => socket.close(code, reasonWithin(reason)),
      onPing: createPongs(socket, () => connection.receivedBytes),
      onMessage: (receive) =>
        socket.on('message', (bytes: Buffer) => {
          connection.isSilent = false
          connection.unhandledBytes += bytes.length + bytesPerMessage
          pauseReading(connection)
          handleMessage(connection, bytes, receive).catch((error: unknown) => {
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
  // For a frame that is too long or invalid, the library closes the socket with the right code.
  socket.on('error', (error) => log.debug('websocket-error', { error }))
  socket.on('close', (code, reason) => {
    closed(code, String(reason)).catch((error: unknown) => log.error('websocket-failed', { error }))
  })
}

/** Handles a message in a turn of its client, in the order of arrival. */
async function handleMessage(
  connection: Connection,
  bytes: Buffer,
  receive: (text: string) => Promise<void>,
): Promise<void> {
  const { socket, client } = connection
  await turnOf(client.name)
  while (connection.awaitedEnd !== undefined) await connection.awaitedEnd
  connection.unhandledBytes -= bytes.length + bytesPerMessage
  resumeReading(connection)
  if (hasTooManyValues(bytes)) {
    socket.close(CloseCode.BadRequest, tooManyValues.error.code)
    return
  }
  const text = String(bytes)
  connection.awaitedEnd = endBefore(connection, text)
  if (connection.awaitedEnd !== undefined) await connection.awaitedEnd
  connection.awaitedEnd = undefined
  if (socket.readyState !== socket.OPEN) return
  client.share.charge(messageCost + text.length / bytesOfUnit)
  connection.receivedBytes = bytes.length
  // Not awaited: a subscription lasts until the client ends it, and this call would hold the bytes of its message as long.
  return noteBegun(connection, receive(text))
}

/**
 * Pauses reading from a client that does not read its responses, or that sends faster than it gets turns; otherwise its
 * messages would pile up. Feeds have a backpressure of their own.
 */
function pauseReading(connection: Connection): void {
  if (!isWithinLimits(connection)) connection.socket.pause()
}

function resumeReading(connection: Connection): void {
  if (connection.socket.isPaused && isWithinLimits(connection)) connection.socket.resume()
}

function isWithinLimits({ duplex, unhandledBytes }: Connection): boolean {
  return duplex.writableLength <= maxUnsentBytes && unhandledBytes <= maxUnhandledBytes
}

/** Bytes of messages of one socket that wait for a turn, including the overhead: 64 short messages, or a long one. */
const maxUnhandledBytes = 65_536

/** Overhead of each waiting message, in bytes. */
const bytesPerMessage = 1_024

/** Fixed cost of reading a message. */
const messageCost = 1

/** Unsent bytes above which no more messages are read. */
const maxUnsentBytes = 1024 * 1024

/** Shortens the reason of a close, which may contain an id that the client chose, to the length of a control frame (RFC 6455 5.5). */
function reasonWithin(reason: string | undefined): string {
  const bytes = Buffer.from(reason ?? '')
  // Bytes of a character that is cut are not UTF-8, and decoding replaces them by a character of three bytes.
  return bytes.length <= maxReasonBytes ? bytes.toString() : `${bytes.toString('utf8', 0, 100)} …`
}

const maxReasonBytes = 123

/** Whether the library threw because the client sent a message that only a server may send. */
function isServersMessage(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Unexpected message of type')
}

/** Sends a message, and cuts a client with too much unsent data: it may request a hundred responses and read none. */
function sendText(
  { socket, duplex }: Connection,
  text: string,
  log: Pick<Log, 'debug'>,
): Promise<void> {
  return new Promise((resolve) => {
    // A closing socket accepts no messages; its subscriptions end with the close event.
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

/** Refuses an upgrade with the status, headers and body of a plain response. */
export function refuseUpgrade(duplex: Duplex, { status, headers, body }: RestResponse): void {
  const lines = Object.entries({ ...headers, connection: 'close' }).map((pair) => pair.join(': '))
  const length = `content-length: ${Buffer.byteLength(body)}`
  duplex.once('error', () => duplex.destroy())
  duplex.end(
    [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, length, '', body].join('\r\n'),
  )
}

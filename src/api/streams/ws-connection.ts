import type { Duplex } from 'node:stream'
import type { ExecutionResult } from 'graphql'
import type { WebSocket } from 'ws'
import { drainedOrClosed } from '../../lib/drained-or-closed.ts'
import type { SharedText, Sink, Subscriber } from '../../service/feed/follow-ledger-updates.ts'
import { deliveryCost } from '../clients/client-shares.ts'
import type { Client } from '../clients/clients.ts'
import type { Budget } from '../graphql/execution/budget.ts'
import type { Caller, Credentials } from '../tokens/auth.ts'
import type { Peer } from './heartbeat.ts'

/** A WebSocket connection and its feeds. */

/** A connection. Tens of thousands may be open, so it holds no more than it needs. */
export interface Connection extends Peer {
  readonly socket: WebSocket
  /** The byte stream below the WebSocket frames; its `writableLength` is the amount of unsent data. */
  readonly duplex: Duplex
  /** The credentials of the upgrade request; released when the caller is known. */
  credentials: Credentials | undefined
  caller: Caller | undefined
  /** The client that pays for operations and events: by address until its token is known. */
  client: Client
  /** Stops watching the token of the caller; set if the caller has one. */
  forgetToken: (() => void) | undefined
  /** Bytes of received messages that wait for a turn of the client. */
  unhandledBytes: number
  /** Bytes of the message that is being handled. */
  receivedBytes: number
  /** Number of open operations of all kinds. */
  subscriptions: number
  /** Total cost of one event of each open subscription. */
  cost: number
  /** The shared feeds among the open operations. */
  readonly subscribers: Set<Subscriber>
  /** The budgets of running queries and mutations, by the id that the client chose. */
  readonly budgets: Map<string, Budget>
  roomSoon: Promise<void> | undefined
  /** The id of the operation that the protocol library has just begun; its caller takes it. */
  begunId: string | undefined
  /** The ends of all operations that the library has not finished, by the id that the client chose. */
  readonly ends: Map<string, Promise<void>>
  /** The ends of those operations that the client has completed: it may use their ids again. */
  readonly completedEnds: Map<string, Promise<void>>
  /** The end that a message with the id of a completed operation waits for; later messages wait as well. */
  awaitedEnd: Promise<void> | undefined
}

/** Creates the connection of a new socket. */
export function createConnection(
  socket: WebSocket,
  duplex: Duplex,
  { credentials, client }: { readonly credentials: Credentials; readonly client: Client },
): Connection {
  const connection: Connection = {
    socket,
    duplex,
    credentials,
    caller: undefined,
    client,
    forgetToken: undefined,
    unhandledBytes: 0,
    receivedBytes: 0,
    subscriptions: 0,
    cost: 0,
    subscribers: new Set(),
    budgets: new Map(),
    roomSoon: undefined,
    begunId: undefined,
    ends: new Map(),
    completedEnds: new Map(),
    awaitedEnd: undefined,
    isSilent: false,
    isBusy: () => socket.isPaused || duplex.writableLength > 0,
    ping: () => socket.ping(),
    cut: () => socket.terminate(),
  }
  return connection
}

/** The operation of a shared feed. The protocol requires a generator; this one yields nothing, because the feed sends by itself. */
export interface FeedOperation {
  readonly sink: Sink
  readonly results: AsyncGenerator<ExecutionResult, void, undefined>
  /** Sets the feed to leave when the client ends the operation. */
  attach(subscriber: Subscriber): void
}

/** Unsent bytes of a connection from which its feeds wait. */
const maxUnsentBytes = 64 * 1024

/** Creates a feed operation under the id that the client chose. */
export function createFeedOperation(connection: Connection, id: string): FeedOperation {
  const { promise: finished, resolve: finish } = Promise.withResolvers<IteratorReturnResult<void>>()
  const prefix = Buffer.from(`{"id":${JSON.stringify(id)},"type":"next","payload":`)
  let subscriber: Subscriber | undefined
  let isOver = false

  function end(): void {
    isOver = true
    if (subscriber !== undefined) connection.subscribers.delete(subscriber)
    finish({ done: true, value: undefined })
  }

  async function leave(): Promise<IteratorReturnResult<void>> {
    subscriber?.leave()
    end()
    return { done: true, value: undefined }
  }

  return {
    sink: {
      transport: 'websocket',
      hasRoom: () => connection.duplex.writableLength < maxUnsentBytes,
      take: (text, message) => {
        connection.client.share.charge(deliveryCost(message))
        sendNext(connection, prefix, text)
      },
      room: () => room(connection),
      end,
    },
    results: {
      next: () => finished,
      return: leave,
      throw: leave,
      [Symbol.asyncIterator]() {
        return this
      },
      [Symbol.asyncDispose]: async () => void (await leave()),
    },
    attach: (opened) => {
      // The client may have ended the operation while the feed was opened.
      if (isOver) return opened.leave()
      subscriber = opened
      connection.subscribers.add(opened)
    },
  }
}

/** Resolves when all data is sent or the connection is closed; all feeds of the connection share one promise. */
function room(connection: Connection): Promise<void> {
  connection.roomSoon ??= drainedOrClosed(connection.duplex).then(() => {
    connection.roomSoon = undefined
  })
  return connection.roomSoon
}

/**
 * Sends an event as one complete WebSocket frame. The library would frame the event again for every subscriber, which
 * costs more than everything else. Frames never interleave, because without compression the library also writes each at once.
 *
 * All subscribers share the bytes of the event. A copy for each would be memory outside V8's heap, and thousands of copies make V8
 * collect old objects in the middle of a delivery (`docs/benchmarks.md`, Feed).
 */
function sendNext({ socket, duplex }: Connection, prefix: Buffer, text: SharedText): void {
  if (socket.readyState !== socket.OPEN) return
  const payload = bytesOf(text)
  duplex.cork()
  duplex.write(frameStart(prefix, payload.length))
  duplex.write(payload)
  duplex.uncork()
}

function bytesOf(text: SharedText): Buffer {
  let bytes = sharedBytes.get(text)
  if (bytes === undefined) {
    bytes = Buffer.from(`${text.text}}`)
    sharedBytes.set(text, bytes)
  }
  return bytes
}

const sharedBytes = new WeakMap<SharedText, Buffer>()

/** Encodes the header of a final text frame without a mask, as servers send it (RFC 6455 5.2), and the prefix of the message. */
function frameStart(prefix: Buffer, payloadLength: number): Buffer {
  const length = prefix.length + payloadLength
  const header = length < 126 ? 2 : length < 65_536 ? 4 : 10
  const start = Buffer.allocUnsafe(header + prefix.length)
  start[0] = 0x81
  start[1] = header === 2 ? length : header === 4 ? 126 : 127
  if (header === 4) start.writeUInt16BE(length, 2)
  if (header === 10) start.writeBigUInt64BE(BigInt(length), 2)
  prefix.copy(start, header)
  return start
}

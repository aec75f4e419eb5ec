import type { Duplex } from 'node:stream'
import type { ExecutionResult } from 'graphql'
import type { WebSocket } from 'ws'
import type { SharedText, Sink, Subscriber } from '../service/feed/follow-ledger-updates.ts'
import type { Caller, Credentials } from './auth.ts'
import { deliveryCost } from './client-shares.ts'
import type { Client } from './clients.ts'
import type { Budget } from './graphql/budget.ts'
import type { Peer } from './heartbeat.ts'

/** One WebSocket and its feeds. */

/** A connection. Ten thousands of them are open, so it keeps no more than it needs. */
export interface Connection extends Peer {
  readonly socket: WebSocket
  /** The same below the frames: it knows how much has not left yet. */
  readonly duplex: Duplex
  /** As they stood in the upgrade; let go once the caller is known. */
  credentials: Credentials | undefined
  caller: Caller | undefined
  /** Whose share its operations and events are taken from: by its address until its token is known. */
  client: Client
  /** Ends the watch over the caller's token, where it has one that ends. */
  forgetToken: (() => void) | undefined
  /** Of messages that wait for the turn of the client. */
  unhandledBytes: number
  /** Open operations, of all kinds. */
  subscriptions: number
  /** What an event of each open subscription costs, in all. */
  cost: number
  /** The shared feeds among them. */
  readonly subscribers: Set<Subscriber>
  /** Queries and mutations that are not answered yet, by the id that the client gave them. */
  readonly underWay: Map<string, Budget>
  roomSoon: Promise<void> | undefined
}

/** The connection of a socket that was just opened. */
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
    subscriptions: 0,
    cost: 0,
    subscribers: new Set(),
    underWay: new Map(),
    roomSoon: undefined,
    isSilent: false,
    ping: () => {
      // A paused socket reads no pong; `stalled-writes.ts` watches its writes instead.
      if (socket.isPaused) connection.isSilent = false
      else socket.ping()
    },
    cut: () => socket.terminate(),
  }
  return connection
}

/** An operation of a shared feed, as the protocol wants it: a generator that gives nothing, because the feed sends by itself. */
export interface FeedOperation {
  readonly sink: Sink
  readonly results: AsyncGenerator<ExecutionResult, void, undefined>
  /** The feed that is to be left when the client ends the operation. */
  attach(subscriber: Subscriber): void
}

/** What has not left a connection yet, at most, when it takes more: beyond it a feed waits. */
const roomBytes = 64 * 1024

/** A feed operation of a connection under the id that the client gave it. */
export function createFeedOperation(connection: Connection, id: string): FeedOperation {
  let finish: (result: IteratorReturnResult<void>) => void = () => {}
  const finished = new Promise<IteratorReturnResult<void>>((resolve) => {
    finish = resolve
  })
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
      hasRoom: () => connection.duplex.writableLength < roomBytes,
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
    attach: (its) => {
      // The client may have left while the feed was opened.
      if (isOver) return its.leave()
      subscriber = its
      connection.subscribers.add(its)
    },
  }
}

/** Resolves when everything has left, or the connection is gone; once for all its feeds. */
function room(connection: Connection): Promise<void> {
  const { duplex } = connection
  connection.roomSoon ??= new Promise<void>((resolve) => {
    const done = () => {
      duplex.off('drain', done)
      duplex.off('close', done)
      connection.roomSoon = undefined
      resolve()
    }
    duplex.on('drain', done)
    duplex.on('close', done)
  })
  return connection.roomSoon
}

/**
 * Sends an event as one whole frame of the WebSocket protocol. The library would frame it again for every subscriber, which
 * costs more than all the rest; frames never interleave, for without compression the library too writes each at once.
 */
function sendNext({ socket, duplex }: Connection, prefix: Buffer, text: SharedText): void {
  if (socket.readyState === socket.OPEN) duplex.write(frameOf(prefix, text))
}

/** Those with one id, and that is most of them where a program opens many, share the frame too. */
function frameOf(prefix: Buffer, text: SharedText): Buffer {
  let shared = sharedBytes.get(text)
  if (shared === undefined) {
    shared = { payload: Buffer.from(`${text.text}}`), prefix, frame: undefined }
    sharedBytes.set(text, shared)
  }
  if (shared.frame === undefined || !shared.prefix.equals(prefix)) {
    shared.prefix = prefix
    shared.frame = textFrame(prefix, shared.payload)
  }
  return shared.frame
}

interface SharedBytes {
  readonly payload: Buffer
  /** Of the newest frame. */
  prefix: Buffer
  frame: Buffer | undefined
}

const sharedBytes = new WeakMap<SharedText, SharedBytes>()

/** A final text frame without a mask, as a server sends it (RFC 6455 5.2). */
function textFrame(prefix: Buffer, payload: Buffer): Buffer {
  const length = prefix.length + payload.length
  const head = length < 126 ? 2 : length < 65_536 ? 4 : 10
  const frame = Buffer.allocUnsafe(head + length)
  frame[0] = 0x81
  frame[1] = head === 2 ? length : head === 4 ? 126 : 127
  if (head === 4) frame.writeUInt16BE(length, 2)
  if (head === 10) frame.writeBigUInt64BE(BigInt(length), 2)
  prefix.copy(frame, head)
  payload.copy(frame, head + prefix.length)
  return frame
}

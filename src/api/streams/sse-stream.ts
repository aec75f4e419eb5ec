import type { ServerResponse } from 'node:http'
import type { ExecutionResult } from 'graphql'
import { drainedOrClosed } from '../../lib/drained-or-closed.ts'
import type { SharedText, Sink, Subscriber } from '../../service/feed/follow-ledger-updates.ts'
import { deliveryCost } from '../clients/client-shares.ts'
import type { Client } from '../clients/clients.ts'
import { type Occupancy, occupy } from '../limits.ts'
import type { Heartbeat } from './heartbeat.ts'

/** A stream of server-sent events in one HTTP response. */

export interface EventStream {
  readonly sink: Sink
  /** The feeds of this stream: at most one. */
  readonly subscribers: Set<Subscriber>
  /** Sends a result that is not shared with other subscribers. */
  next(result: ExecutionResult): void
  /** Adds a feed. The stream leaves the feed when it ends. */
  attach(subscriber: Subscriber): void
  /** Calls `act` once when the stream ends, or immediately if it has ended. */
  onClose(act: () => void): void
  /** Ends the stream without a `complete` event, so that the client reconnects. */
  close(): void
}

export interface EventStreamDeps {
  readonly occupancy: Occupancy
  readonly heartbeat: Heartbeat
  readonly streams: Set<EventStream>
  readonly client: Client
}

/** Unsent bytes of a stream from which its feed waits. */
const maxUnsentBytes = 64 * 1024

/** Milliseconds after which TCP probes an idle peer; ten more probes follow within ten seconds. */
const keepAliveMs = 10_000

/** Opens a stream in a response whose headers are not sent yet. */
export function openEventStream(response: ServerResponse, deps: EventStreamDeps): EventStream {
  const { occupancy, heartbeat, streams, client } = deps
  const subscribers = new Set<Subscriber>()
  const endings: (() => void)[] = []
  let isOver = false
  occupy(occupancy, client.name, { connections: 1, subscriptions: 1 })
  sendHead(response)

  const stream: EventStream = {
    sink: {
      transport: 'event-stream',
      hasRoom: () => response.writableLength < maxUnsentBytes,
      take: (text, message) => {
        client.share.charge(deliveryCost(message))
        write(frameOf(text))
      },
      room: () => drainedOrClosed(response),
      end: () => {
        write('event: complete\ndata:\n\n')
        close()
      },
    },
    subscribers,
    next: (result) => write(`event: next\ndata: ${JSON.stringify(result)}\n\n`),
    attach: (subscriber) => {
      subscribers.add(subscriber)
      stream.onClose(subscriber.leave)
    },
    onClose: (act) => {
      if (isOver) act()
      else endings.push(act)
    },
    close,
  }

  function write(bytes: string | Buffer): void {
    if (!isOver) response.write(bytes)
  }

  function close(): void {
    if (!isOver) response.end()
    finish()
  }

  function finish(): void {
    if (isOver) return
    isOver = true
    occupy(occupancy, client.name, { connections: -1, subscriptions: -1 })
    streams.delete(stream)
    forget()
    for (const act of endings) act()
  }

  const forget = heartbeat.add(commentingPeer(response))
  response.once('close', finish)
  streams.add(stream)
  // The response emits no close event if the client closed the connection before the response began.
  if (response.closed) finish()
  return stream
}

/** Sends the head of a stream. */
export function sendHead(response: ServerResponse): void {
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    // Without this header some proxies buffer the response.
    'x-accel-buffering': 'no',
  })
  response.flushHeaders()
  response.socket?.setKeepAlive(true, keepAliveMs)
  response.socket?.setNoDelay(true)
}

/**
 * A heartbeat peer whose client does not answer; `stalled-writes.ts` watches its writes instead. If nothing was written for a few
 * rounds, it sends a comment: clients and proxies take a connection without bytes for a broken one.
 */
function commentingPeer(response: ServerResponse) {
  let written = 0
  let quietRounds = 0
  const peer = {
    isSilent: false,
    isBusy: () => false,
    ping: () => {
      peer.isSilent = false
      const before = written
      written = response.socket?.bytesWritten ?? 0
      quietRounds = written === before && response.writableLength === 0 ? quietRounds + 1 : 0
      if (quietRounds >= commentRounds) response.write(':\n\n')
    },
    cut: () => response.destroy(),
  }
  return peer
}

/** Rounds without an event after which a comment is sent: with the round that it ends, every 33 seconds. */
const commentRounds = 2

function frameOf(text: SharedText): Buffer {
  const known = frames.get(text)
  if (known !== undefined) return known
  const id = text.cursor === undefined ? '' : `id: ${text.cursor}\n`
  const frame = Buffer.from(`${id}event: next\ndata: ${text.text}\n\n`)
  frames.set(text, frame)
  return frame
}

const frames = new WeakMap<SharedText, Buffer>()

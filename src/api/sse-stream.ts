import type { ServerResponse } from 'node:http'
import type { ExecutionResult } from 'graphql'
import type { Reader, SharedText, Sink } from '../service/feed/follow-ledger-updates.ts'
import type { Heartbeat } from './heartbeat.ts'
import type { Occupancy } from './limits.ts'

/** A stream of server-sent events over one HTTP response. */

/** An open stream. */
export interface EventStream {
  /** Where a feed sends its events. */
  readonly sink: Sink
  /** The feeds of this stream: one, or none. */
  readonly readers: Set<Reader>
  /** Sends a result that nobody shares. */
  next(result: ExecutionResult): void
  /** The feed that is to be left when the client goes. */
  attach(reader: Reader): void
  /** Called once when the stream is over, at once where it is. */
  onClose(act: () => void): void
  /** Ends the stream in the middle, so that the client comes again. */
  close(): void
}

/** What a stream needs of its door. */
export interface EventStreamDeps {
  readonly occupancy: Occupancy
  readonly heartbeat: Heartbeat
  readonly streams: Set<EventStream>
}

/** What has not left a stream yet, at most, when it takes more. */
const roomBytes = 64 * 1024

/** A peer without data under way is asked by TCP itself after this time, and then ten times in ten seconds. */
const keepAliveMs = 10_000

/** Answers with a stream; nothing may have been answered yet. */
export function openEventStream(response: ServerResponse, deps: EventStreamDeps): EventStream {
  const { occupancy, heartbeat, streams } = deps
  const readers = new Set<Reader>()
  const endings: (() => void)[] = []
  let isOver = false
  occupancy.connections++
  occupancy.subscriptions++
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    // Some proxies collect an answer before they pass it on, unless they are told.
    'x-accel-buffering': 'no',
  })
  response.flushHeaders()
  response.socket?.setKeepAlive(true, keepAliveMs)
  response.socket?.setNoDelay(true)

  const stream: EventStream = {
    sink: {
      hasRoom: () => response.writableLength < roomBytes,
      take: (text) => write(frameOf(text)),
      room,
      end: () => {
        write('event: complete\ndata:\n\n')
        close()
      },
    },
    readers,
    next: (result) => write(`event: next\ndata: ${JSON.stringify(result)}\n\n`),
    attach: (reader) => {
      readers.add(reader)
      stream.onClose(reader.leave)
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

  function room(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        response.off('drain', done)
        response.off('close', done)
        resolve()
      }
      response.on('drain', done)
      response.on('close', done)
    })
  }

  function close(): void {
    if (!isOver) response.end()
    finish()
  }

  function finish(): void {
    if (isOver) return
    isOver = true
    occupancy.connections--
    occupancy.subscriptions--
    streams.delete(stream)
    forget()
    for (const act of endings) act()
  }

  const forget = heartbeat.add(stalledPeer(response))
  response.once('close', finish)
  streams.add(stream)
  // Whoever went before the answer began is told of no more: nothing would end the stream again.
  if (response.closed) finish()
  return stream
}

/** Events have no answer, but what does not leave for a whole round waits for somebody who is gone. */
function stalledPeer(response: ServerResponse) {
  let sent = 0
  const peer = {
    isSilent: false,
    ping: () => {
      const { socket, writableLength } = response
      const left = (socket?.bytesWritten ?? 0) - writableLength
      peer.isSilent = writableLength > 0 && left === sent
      sent = left
    },
    cut: () => response.destroy(),
  }
  return peer
}

function frameOf(text: SharedText): Buffer {
  const known = frames.get(text)
  if (known !== undefined) return known
  const id = text.cursor === undefined ? '' : `id: ${text.cursor}\n`
  const frame = Buffer.from(`${id}event: next\ndata: ${text.text}\n\n`)
  frames.set(text, frame)
  return frame
}

const frames = new WeakMap<SharedText, Buffer>()

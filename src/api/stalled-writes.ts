import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Log } from '../lib/log.ts'

/**
 * Clients that do not read. What was written to such a connection is kept, and so is its file descriptor, for as long as the
 * client likes; here is the bound, for plain answers, event streams, WebSockets and MQTT alike.
 */

/** A check of all connections at intervals. */
export interface StalledWritesWatch {
  close(): void
}

/** When a connection is cut. */
export interface StalledWritesLimits {
  /** For so long it has taken nothing of what waits for it, in milliseconds; up to a sixth more passes until it is seen. */
  readonly stalledWriteMs: number
}

/** Begins to watch all connections of a server. What a client sends meanwhile does not count: it may send and never read. */
export function cutStalledWrites(
  server: Server,
  { stalledWriteMs }: StalledWritesLimits,
  log: Pick<Log, 'debug'>,
): StalledWritesWatch {
  const sockets = new Set<Socket>()
  const stalls = new WeakMap<Socket, Stall>()

  function look(): void {
    const now = performance.now()
    for (const socket of sockets) {
      const unsentBytes = socket.writableLength
      if (unsentBytes === 0) {
        stalls.delete(socket)
        continue
      }
      const place = placeOf(socket)
      const stall = stalls.get(socket)
      if (stall === undefined || place !== stall.place) stalls.set(socket, { place, since: now })
      else if (now - stall.since >= stalledWriteMs) {
        log.debug('write-stalled', { unsentBytes })
        // Without a farewell, which would wait behind all the rest.
        socket.resetAndDestroy()
      }
    }
  }

  server.on('connection', (socket: Socket) => {
    // The server is given some connections twice.
    if (sockets.has(socket)) return
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const looking = setInterval(look, stalledWriteMs / looksPerStall)
  looking.unref()
  return { close: () => clearInterval(looking) }
}

/** Where a connection stood at a look. */
interface Stall {
  readonly place: string
  readonly since: number
}

/**
 * Names the progress of a connection's writes; another name means progress. Node reports only the end of a write, and one
 * write may be a whole answer of megabytes on a slow network. The handle has the number of bytes that the system has not
 * accepted, which Node reads for its own timeouts. The system accepts more when a third of its buffer has left, which may be
 * a megabyte: so the limit must not be short.
 */
function placeOf(socket: Socket): string {
  const { _handle: handle }: { _handle?: { readonly writeQueueSize?: number } | null } =
    socket as object
  return `${socket.bytesWritten - socket.writableLength} ${handle?.writeQueueSize}`
}

const looksPerStall = 6

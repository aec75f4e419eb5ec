import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Log } from '../../lib/log.ts'
import { onEachConnection } from '../clients/connections.ts'

/**
 * Cuts connections of clients that do not read. Data written to such a connection stays in memory, and its file descriptor stays
 * open, for as long as the client likes. This timeout applies to plain responses, event streams, WebSockets and MQTT.
 */

/** A periodic check of all connections. */
export interface StalledWritesWatch {
  close(): void
}

/** The timeout of stalled connections. */
export interface StalledWritesLimits {
  /** Milliseconds without progress of pending writes after which a connection is cut; up to a sixth more may pass. */
  readonly stalledWriteMs: number
}

/** Starts the checks. Received data does not count as progress: a client may send without ever reading. */
export function cutStalledWrites(
  server: Server,
  { stalledWriteMs }: StalledWritesLimits,
  log: Pick<Log, 'debug'>,
): StalledWritesWatch {
  const sockets = new Set<Socket>()
  const stalls = new WeakMap<Socket, Stall>()

  function check(): void {
    const now = performance.now()
    for (const socket of sockets) {
      const unsentBytes = socket.writableLength
      if (unsentBytes === 0) {
        stalls.delete(socket)
        continue
      }
      const progress = progressOf(socket)
      const stall = stalls.get(socket)
      if (stall === undefined || progress !== stall.progress)
        stalls.set(socket, { progress, since: now })
      else if (now - stall.since >= stalledWriteMs) {
        log.debug('write-stalled', { unsentBytes })
        // A graceful close would wait behind the pending data.
        socket.resetAndDestroy()
      }
    }
  }

  onEachConnection(server, (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  const timer = setInterval(check, stalledWriteMs / checksPerTimeout)
  timer.unref()
  return { close: () => clearInterval(timer) }
}

/** The progress of a connection at a check. */
interface Stall {
  readonly progress: string
  readonly since: number
}

/**
 * Returns a text that changes with every progress of the pending writes. Node reports only the end of a write, and one write
 * may be a whole response of megabytes on a slow network. The handle has the number of bytes that the system has not accepted,
 * which Node reads for its own timeouts. The system accepts more when a third of its buffer is sent, which may be a megabyte:
 * so the timeout must not be short.
 */
function progressOf(socket: Socket): string {
  const { _handle: handle }: { _handle?: { readonly writeQueueSize?: number } | null } =
    socket as object
  return `${socket.bytesWritten - socket.writableLength} ${handle?.writeQueueSize}`
}

const checksPerTimeout = 6

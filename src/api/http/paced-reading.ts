import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { createFifo, type Fifo } from '../../lib/fifo.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { isForConnections } from '../../lib/turns.ts'
import { clientOf, isProxy, type TrustedProxies } from '../clients/client-address.ts'
import { onEachConnection } from '../clients/connections.ts'

/**
 * Passes received data to the HTTP parser in small pieces. A read returns up to 64 KiB, which Node parses at once: 2,000 short
 * requests (RFC 9112 9.3.2), which block the event loop for tens of milliseconds on each such connection. Node resumes a
 * paused connection after every request, so pausing is not enough: only data that is held back cannot be parsed.
 */

/** The paced connections of a server. */
export interface PacedReading {
  /** Counts a parsed request. */
  count(socket: Socket): void
  /** Stops parsing and reading a connection until it is released. */
  hold(socket: Socket): void
  release(socket: Socket): void
}

/** Size of a piece in bytes: a few requests of usual size. A body of the maximum size has 256 pieces. */
const pieceBytes = 4_096

/** Requests of one client, on all its connections, that are parsed in one phase of the event loop. */
const maxRequestsPerPhase = 64

/** Bytes of one client, including bodies, that are parsed in one phase of the event loop. */
const maxBytesPerPhase = 262_144

/** A line counts as this many more bytes: it may end a header or a chunk of a body, for each of which the parser calls the program. */
const bytesOfLine = 64

/** Paces every connection of a server. */
export function readInPieces(server: Server, proxies: TrustedProxies): PacedReading {
  const paces = new WeakMap<Duplex, Pace>()
  const phases = createPhases()
  // This listener runs after the server's own, which makes the parser read from the system directly.
  onEachConnection(server, (socket) => {
    // After a `data` listener was added once, the parser too receives its data from the socket.
    socket.on('data', ignore).off('data', ignore)
    // A proxy sends requests of many clients, and the client is known only after a request is parsed.
    const isOfMany = isProxy(socket.remoteAddress, proxies)
    const client = isOfMany ? socket : clientOf(socket.remoteAddress, {}, proxies)
    paces.set(socket, pace(socket, phases, client))
  })
  // Responses that were counted before are no longer sent on an upgraded connection.
  server.prependListener('upgrade', (_message, socket) => paces.get(socket)?.release())
  return {
    count: (socket) => paces.get(socket)?.count(),
    hold: (socket) => paces.get(socket)?.hold(),
    release: (socket) => paces.get(socket)?.release(),
  }
}

function ignore(): void {}

interface Pace {
  count(): void
  hold(): void
  release(): void
}

/** Intercepts the data between the operating system and the stream: pushed data is queued, and passed on when there is room. */
function pace(socket: Socket, phases: Phases, client: Client): Pace {
  const { push, _read: read } = socket
  const queue = createFifo<Uint8Array | null>()
  let isHeld = false
  let isScheduled = false

  function passOn(): number {
    isScheduled = false
    const bytes = queue.shift() ?? null
    if (!socket.destroyed) push.call(socket, bytes)
    return workOf(bytes)
  }

  function schedule(): void {
    if (isHeld || isScheduled || queue.length === 0) return
    isScheduled = true
    phases.wait(client, passOn)
  }

  function enqueue(bytes: Uint8Array | null): void {
    if (bytes === null || bytes.length <= pieceBytes) {
      queue.push(bytes)
      return
    }
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      // A copy: an incomplete WebSocket message may hold a byte of each piece, and a slice would hold the whole read.
      queue.push(new Uint8Array(bytes.subarray(at, at + pieceBytes)))
    }
  }

  socket.push = (bytes: Uint8Array | null) => {
    const isNext = !isHeld && queue.length === 0
    if (isNext && bytes === null) return push.call(socket, bytes)
    const isShort = bytes !== null && bytes.length <= pieceBytes
    if (isNext && isShort && phases.take(client, workOf(bytes))) return push.call(socket, bytes)
    enqueue(bytes)
    schedule()
    // `false` makes the stream read no more until it calls `_read`.
    return false
  }
  socket._read = (size) => {
    if (queue.length > 0) schedule()
    else if (!isHeld) read.call(socket, size)
  }
  return {
    count: () => phases.count(client),
    hold: () => {
      isHeld = true
    },
    release: () => {
      if (!isHeld) return
      isHeld = false
      if (queue.length > 0) schedule()
      else read.call(socket, 0)
    },
  }
}

/** The address of a client, or one connection of a proxy. */
type Client = string | Socket

/** Limits what is parsed for each client in one phase of the event loop; the rest waits for a later phase. */
interface Phases {
  count(client: Client): void
  /** Returns whether this much may be parsed now, and counts it if so. */
  take(client: Client, work: number): boolean
  /** Calls `give` in the next phase that has room, in the order of the calls. `give` returns the work that it passed on. */
  wait(client: Client, give: () => number): void
}

interface Phase {
  requests: number
  /** In bytes, with those that stand for lines. */
  work: number
  readonly waiting: Fifo<() => number>
}

function createPhases(): Phases {
  const phases = new Map<Client, Phase>()
  let isPlanned = false

  function begin(): void {
    isPlanned = false
    if (isForConnections()) {
      plan()
      return
    }
    for (const [client, phase] of phases) {
      if (phase.waiting.length === 0) phases.delete(client)
      phase.requests = 0
      phase.work = 0
      while (hasRoom(phase)) {
        const give = phase.waiting.shift()
        if (give === undefined) break
        phase.work += give()
      }
    }
    if (phases.size > 0) plan()
  }

  function plan(): void {
    if (isPlanned) return
    isPlanned = true
    setImmediate(begin)
  }

  function phaseOf(client: Client): Phase {
    plan()
    return getOrInsert(phases, client, () => ({ requests: 0, work: 0, waiting: createFifo() }))
  }

  return {
    count: (client) => void phaseOf(client).requests++,
    take: (client, work) => {
      const phase = phaseOf(client)
      if (phase.waiting.length > 0 || !hasRoom(phase) || isForConnections()) return false
      phase.work += work
      return true
    },
    wait: (client, give) => phaseOf(client).waiting.push(give),
  }
}

function hasRoom({ requests, work }: Phase): boolean {
  return requests < maxRequestsPerPhase && work < maxBytesPerPhase
}

/** The work of parsing a piece, in bytes. */
function workOf(bytes: Uint8Array | null): number {
  if (bytes === null) return 0
  let lines = 0
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === lineFeed) lines++
  return bytes.length + bytesOfLine * lines
}

const lineFeed = 0x0a

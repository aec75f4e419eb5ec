import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { createFifo, type Fifo } from '../lib/fifo.ts'
import { isForConnections } from '../lib/turns.ts'
import { clientOf, isProxy, type TrustedProxies } from './client-address.ts'

/**
 * Gives the parser of a connection what is read from it in small pieces. A read gives up to 64 KiB, which Node parses at once: 2,000
 * short requests (RFC 9112 9.3.2), which hold the event loop for tens of milliseconds, on each connection that has so many. Node
 * resumes a paused connection behind every request, so that only what is not given cannot be parsed.
 */

/** The connections of a server. */
export interface PacedReading {
  /** Counts a request that was parsed. */
  count(socket: Socket): void
  /** Gives no more of a connection, and reads no more from it, until it is released. */
  hold(socket: Socket): void
  release(socket: Socket): void
}

/** Some requests of a usual size. A body of the greatest size has 256 of them. */
const pieceBytes = 4_096

/** So many requests of one client are parsed, on all its connections, before the event loop serves others. */
const mostPhaseRequests = 64

/** The same in bytes, of which bodies may be most. */
const mostPhaseBytes = 262_144

/** Begins with every connection of a server. */
export function readInPieces(server: Server, proxies: TrustedProxies): PacedReading {
  const paces = new WeakMap<Duplex, Pace>()
  const phases = createPhases()
  // Behind the server's own listener, which has its parser read from the system directly.
  server.on('connection', (socket: Socket) => {
    // The server is given some connections twice.
    if (paces.has(socket)) return
    // Once anybody listens to the bytes, the parser gets them from the socket as well.
    socket.on('data', ignore).off('data', ignore)
    // A proxy sends requests of many clients; which client sent a request is known only after it is parsed.
    const isOfMany = isProxy(socket.remoteAddress, proxies)
    const client = isOfMany ? socket : clientOf(socket.remoteAddress, {}, proxies)
    paces.set(socket, pace(socket, phases, client))
  })
  // What was counted before is not answered on it any more.
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

/** Stands between the system and the stream: what is pushed is kept, and given when the stream asks for more. */
function pace(socket: Socket, phases: Phases, client: Client): Pace {
  const { push, _read: read } = socket
  const kept = createFifo<Uint8Array | null>()
  let isHeld = false
  let isAwaited = false

  function give(): number {
    isAwaited = false
    const bytes = kept.shift() ?? null
    if (!socket.destroyed) push.call(socket, bytes)
    return bytes?.length ?? 0
  }

  function giveLater(): void {
    if (isHeld || isAwaited || kept.length === 0) return
    isAwaited = true
    phases.wait(client, give)
  }

  function keep(bytes: Uint8Array | null): void {
    if (bytes === null) kept.push(bytes)
    for (let at = 0; at < (bytes?.length ?? 0); at += pieceBytes) {
      kept.push(bytes?.subarray(at, at + pieceBytes) ?? null)
    }
  }

  socket.push = (bytes: Uint8Array | null) => {
    const isNext = !isHeld && kept.length === 0
    if (isNext && bytes === null) return push.call(socket, bytes)
    const isShort = bytes !== null && bytes.length <= pieceBytes
    if (isNext && isShort && phases.take(client, bytes.length)) return push.call(socket, bytes)
    keep(bytes)
    giveLater()
    // Nothing more is read until the stream asks for it.
    return false
  }
  socket._read = (size) => {
    if (kept.length > 0) giveLater()
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
      if (kept.length > 0) giveLater()
      else read.call(socket, 0)
    },
  }
}

/** The address of a client, or one connection of a proxy. */
type Client = string | Socket

/** What is parsed of a client in a phase of the event loop, and what has to wait for another. */
interface Phases {
  count(client: Client): void
  /** Whether so many bytes may be parsed now; they are counted. */
  take(client: Client, bytes: number): boolean
  /** Has something given in the next phase that has room, and in the order of asking. It says how many bytes it gave. */
  wait(client: Client, give: () => number): void
}

interface Phase {
  requests: number
  bytes: number
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
      phase.bytes = 0
      while (hasRoom(phase)) {
        const give = phase.waiting.shift()
        if (give === undefined) break
        phase.bytes += give()
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
    const phase = phases.get(client) ?? { requests: 0, bytes: 0, waiting: createFifo() }
    phases.set(client, phase)
    return phase
  }

  return {
    count: (client) => void phaseOf(client).requests++,
    take: (client, bytes) => {
      const phase = phaseOf(client)
      if (phase.waiting.length > 0 || !hasRoom(phase) || isForConnections()) return false
      phase.bytes += bytes
      return true
    },
    wait: (client, give) => phaseOf(client).waiting.push(give),
  }
}

function hasRoom({ requests, bytes }: Phase): boolean {
  return requests < mostPhaseRequests && bytes < mostPhaseBytes
}

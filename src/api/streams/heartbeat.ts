/** Detects lost peers: a peer that sends nothing for a whole round is cut. */

/** A monitored peer. */
export interface Peer {
  /** Whether no message arrived since the last ping. The heartbeat sets it, and the peer clears it with every message. */
  isSilent: boolean
  /** Whether an answer would be late, because it or earlier data is not read yet. `stalled-writes.ts` watches such a peer instead. */
  isBusy(): boolean
  /** Sends a ping, which the peer must answer. */
  ping(): void
  /** Closes the connection without a handshake. */
  cut(): void
}

/** The peers of one transport. */
export interface Heartbeat {
  /** Monitors a peer until the returned function is called. */
  add(peer: Peer): () => void
  stop(): void
}

/** Milliseconds between two pings of a peer. A peer that does not answer is cut at the next ping: after 22 s at most. */
export const roundMs = 11_000

export function startHeartbeat(everyMs = roundMs): Heartbeat {
  // Each turn pings only a part of the peers: thousands of pings at once would block the event loop.
  const wheel = Array.from({ length: parts }, () => new Set<Peer>())
  let turn = 0
  let newest = 0
  const timer = setInterval(askNext, everyMs / parts)
  timer.unref()

  function askNext(): void {
    turn = (turn + 1) % parts
    const part = wheel[turn] ?? []
    for (const peer of part) {
      // The peer may have become busy after the last ping.
      if (peer.isBusy()) {
        peer.isSilent = false
      } else if (peer.isSilent) {
        peer.cut()
      } else {
        peer.isSilent = true
        peer.ping()
      }
    }
  }

  function add(peer: Peer): () => void {
    newest = (newest + 1) % parts
    const part = wheel[newest]
    part?.add(peer)
    return () => part?.delete(peer)
  }

  return { add, stop: () => clearInterval(timer) }
}

const parts = 110

/** Detects lost peers: one that is silent for a whole round is cut. */

/** A monitored peer. */
export interface Peer {
  /** Set with every ping; the peer clears it with every message. */
  isSilent: boolean
  /** Requests a message. */
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

/** Each peer is pinged once in this time, and cut at the next turn without an answer: after 22 s at most. */
export const roundMs = 11_000

/** Starts the rounds. */
export function startHeartbeat(everyMs = roundMs): Heartbeat {
  // A part of the peers at a time: thousands of pings at once would delay all events.
  const wheel = Array.from({ length: parts }, () => new Set<Peer>())
  let turn = 0
  let newest = 0
  const timer = setInterval(askNext, everyMs / parts)
  timer.unref()

  function askNext(): void {
    turn = (turn + 1) % parts
    const part = wheel[turn] ?? []
    for (const peer of part) {
      if (peer.isSilent) {
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

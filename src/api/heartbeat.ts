/** Finds out which peers are gone: whoever lets a whole round pass without a sign of life is cut off. */

/** A peer that is looked after. */
export interface Peer {
  /** Set with every question, and to be cleared with every sign of life. */
  isSilent: boolean
  /** Asks for a sign of life. */
  ping(): void
  /** Cuts the peer off without ceremony. */
  cut(): void
}

/** The peers of one door. */
export interface Heartbeat {
  /** Looks after a peer; the answer ends it. */
  add(peer: Peer): () => void
  stop(): void
}

/** A peer is asked once in this time, and cut off when its turn comes again without an answer: after 22 s at most. */
export const roundMs = 11_000

/** Nobody yet. */
export function startHeartbeat(everyMs = roundMs): Heartbeat {
  // A part of the peers at a time, for thousands of pings at once would hold up everybody's events.
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

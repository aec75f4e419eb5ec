import { createBoundedMap } from '../../lib/bounded-map.ts'

/**
 * Questions that many may ask at once: one of them asks, all get its answer, and for a while those who come after. So a
 * storm of questions after something unknown is one question to the node.
 */
export interface RequestCoalescer<T> {
  /** The answer for a key; `keepMs` says for how long after it came it is good for others. */
  coalesce(key: string, ask: () => Promise<T>, keepMs: (answer: T) => number): Promise<T>
}

interface Flight<T> {
  readonly answer: Promise<T>
  /** By `performance.now()`; `Infinity` while it is under way. */
  until: number
}

/** Remembers at most `limit` answers, the newest. */
export function createRequestCoalescer<T>(limit: number): RequestCoalescer<T> {
  const flights = createBoundedMap<string, Flight<T>>(limit)

  function share(key: string, ask: () => Promise<T>, keepMs: (answer: T) => number): Promise<T> {
    const former = flights.get(key)
    if (former !== undefined && former.until > performance.now()) return former.answer
    const flight: Flight<T> = { answer: land(), until: Number.POSITIVE_INFINITY }

    async function land(): Promise<T> {
      let kept = 0
      try {
        const answer = await ask()
        kept = keepMs(answer)
        return answer
      } finally {
        flight.until = performance.now() + kept
      }
    }

    flights.set(key, flight)
    return flight.answer
  }

  return { coalesce: share }
}

import { setImmediate } from 'node:timers/promises'

/** Divides long work into pieces, between which the event loop serves others and the lease is renewed. */
export interface Turns {
  /** Lets the event loop turn, if the work has held it for long enough; to be awaited every millisecond or so. */
  pass(): Promise<void>
}

/** Begins a piece of work that holds the event loop for at most `holdMs` in a row. */
export function createTurns(holdMs = usualHoldMs): Turns {
  let begun = performance.now()

  async function pass(): Promise<void> {
    if (performance.now() - begun < holdMs) return
    await setImmediate()
    begun = performance.now()
  }

  return { pass }
}

/** Half of the longest turn that is allowed, for other work comes in between. */
const usualHoldMs = 10

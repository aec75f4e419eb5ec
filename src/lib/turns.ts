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

/*
 * The same of work that has many parts beside each other, such as the fields of an answer: each of them asks whether the turn is
 * over, whichever of them took it, and those that wait go on one after the other.
 */

let began: number | undefined

/** Whether the turn has gone on for long enough, since it was first asked. */
export function isTurnOver(): boolean {
  const now = performance.now()
  if (began === undefined) {
    began = now
    void setImmediate().then(() => {
      began = undefined
    })
  }
  return now - began > usualHoldMs
}

const waiting: (() => void)[] = []

/** Does work in a later turn, after what waits already. */
export function inLaterTurn<T>(work: () => T | Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    waiting.push(() => {
      try {
        resolve(work())
      } catch (failure) {
        reject(failure)
      }
    })
    if (waiting.length === 1) void setImmediate().then(takeTurn)
  })
}

function takeTurn(): void {
  began = undefined
  do waiting.shift()?.()
  while (waiting.length > 0 && !isTurnOver())
  if (waiting.length > 0) void setImmediate().then(takeTurn)
}

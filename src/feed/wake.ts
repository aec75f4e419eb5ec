/** Tells those who wait that a milestone was committed. A lost wake-up costs a tick, never an update. */

/** What to wait for. */
export interface WakeCall {
  /** The position up to which the reader knows the log; when it has grown beyond it already, there is no wait. */
  readonly beyond: number
  /** Ends the wait at once. */
  readonly signal: AbortSignal
  /** Ends the wait after this many milliseconds, in case a wake-up was lost. */
  readonly tickMs: number
}

/** The bell between the committer and the readers of one process. */
export interface Wake {
  /** Rings after a commit, with the newest position of the log; a milestone without updates rings too. */
  notify(seq: number): void
  /** Resolves on a ring, tick or abort with the newest position heard of; never rejects. */
  wait(call: WakeCall): Promise<number>
  /** The newest position heard of. */
  newest(): number
  /** How many readers wait now. */
  waiting(): number
}

/** Makes a bell that has heard of nothing yet. */
export function createWake(): Wake {
  const sleepers = new Set<() => void>()
  let newest = 0

  function notify(seq: number): void {
    newest = Math.max(newest, seq)
    for (const rouse of [...sleepers]) rouse()
  }

  function wait({ beyond, signal, tickMs }: WakeCall): Promise<number> {
    if (newest > beyond || signal.aborted) return Promise.resolve(newest)
    return new Promise((resolve) => {
      const rouse = () => {
        sleepers.delete(rouse)
        clearTimeout(timer)
        signal.removeEventListener('abort', rouse)
        resolve(newest)
      }
      const timer = setTimeout(rouse, tickMs)
      signal.addEventListener('abort', rouse)
      sleepers.add(rouse)
    })
  }

  return { notify, wait, newest: () => newest, waiting: () => sleepers.size }
}

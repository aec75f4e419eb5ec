import { createSignal } from '../lib/signal.ts'

/** Wakes the readers of a log after a commit. A lost wake-up costs a tick, never an update. */

/** The conditions that end a wait. */
export interface WakeOptions {
  /** The position up to which the reader knows the log. `wait` resolves at once if a newer position is known. */
  readonly beyond: number
  readonly signal: AbortSignal
  /** Maximum milliseconds of a wait; covers the loss of a wake-up. */
  readonly tickMs: number
}

/** The signal between the committer and the readers of one process. */
export interface Wake {
  /** Wakes the waiting readers. Called after each commit, also of a milestone without updates, with the newest position of the log. */
  notify(seq: number): void
  /** Resolves after a commit, a tick or an abort with the newest known position; never rejects. */
  wait(options: WakeOptions): Promise<number>
  /** The newest known position. */
  newest(): number
  waiting(): number
}

export function createWake(): Wake {
  const committed = createSignal()
  let newest = 0

  function notify(seq: number): void {
    newest = Math.max(newest, seq)
    committed.notify()
  }

  async function wait({ beyond, signal, tickMs: ms }: WakeOptions): Promise<number> {
    if (newest <= beyond) await committed.wait({ ms, signal })
    return newest
  }

  return { notify, wait, newest: () => newest, waiting: committed.waiting }
}

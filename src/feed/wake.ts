import { createSignal } from '../lib/signal.ts'

/** Wakes the readers of a log after a commit. A lost wake-up costs a tick, never an update. */

/** What to wait for. */
export interface WakeOptions {
  /** The position up to which the reader knows the log; there is no wait when the log is known to reach further. */
  readonly beyond: number
  readonly signal: AbortSignal
  /** The longest wait, in milliseconds, for the case that a wake-up is lost. */
  readonly tickMs: number
}

/** The signal between the committer and the readers of one process. */
export interface Wake {
  /** Called after a commit with the newest position of the log, also after a milestone without updates. */
  notify(seq: number): void
  /** Resolves after a commit, a tick or an abort with the newest known position; never rejects. */
  wait(options: WakeOptions): Promise<number>
  /** The newest known position. */
  newest(): number
  /** The number of waiting readers. */
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

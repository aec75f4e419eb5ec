import type { FailureLog } from '../store/failure-log.ts'
import type { LogWindow, TailTip } from './log-window.ts'
import type { Wake } from './wake.ts'

/** Reads the end of the log after a commit, on a tick, and on request. Concurrent requests share one read. */

export interface TipFollowerOptions {
  readonly window: Pick<LogWindow, 'tip' | 'advance'>
  readonly wake: Pick<Wake, 'wait' | 'newest'>
  /** Maximum delay after a lost wake-up, in milliseconds. */
  readonly tickMs: number
  readonly logFailure: FailureLog
}

export interface TipFollower {
  /** Returns the tip; reads again if the last read is older than a tick or a wake-up, or does not reach `seq`. */
  freshTip(seq?: number): Promise<TailTip>
  /** Reads the new rows. The read begins after the call. */
  refresh(): Promise<void>
  close(): Promise<void>
}

export function followTip({ window, wake, tickMs, logFailure }: TipFollowerOptions): TipFollower {
  let readAt = performance.now()
  let reading: Promise<void> | undefined
  const closing = new AbortController()
  const following = follow(closing.signal)

  async function follow(signal: AbortSignal): Promise<void> {
    let notifiedSeq = window.tip().seq
    while (!signal.aborted) {
      notifiedSeq = await wake.wait({ beyond: notifiedSeq, signal, tickMs })
      if (signal.aborted) return
      // After a failure the next tick reads again. A read that has already begun may lack the commit.
      await refresh().catch((failure: unknown) => logFailure('feed-look-failed', failure))
      // On a lagging replica a wake-up may name a position that cannot be read yet: wait for the next one, do not spin.
      notifiedSeq = Math.max(notifiedSeq, window.tip().seq)
    }
  }

  /** Joins the running read, or starts one. */
  function read(): Promise<void> {
    reading ??= readOnce().finally(() => {
      reading = undefined
    })
    return reading
  }

  async function readOnce(): Promise<void> {
    if (await window.advance()) readAt = performance.now()
  }

  async function refresh(): Promise<void> {
    const running = reading
    await read()
    if (running !== undefined) await read()
  }

  async function freshTip(seq = 0): Promise<TailTip> {
    const isBehind = () => Math.max(wake.newest(), seq) > window.tip().seq
    if (isBehind() || performance.now() - readAt > tickMs) {
      const running = reading
      await read()
      // The running read may have begun before the commit.
      if (running !== undefined && isBehind()) await read()
    }
    return window.tip()
  }

  async function close(): Promise<void> {
    closing.abort()
    await following
  }

  return { freshTip, refresh, close }
}

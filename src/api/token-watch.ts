import { type Clock, nowMs } from '../lib/clock.ts'
import type { Subscriber } from '../service/feed/follow-ledger-updates.ts'

/** Closes connections when their token expires, after a notice to their feeds. */

/** A connection that was opened with a token. */
export interface TokenHolder {
  /** The end of the token in Unix seconds. */
  readonly expiresAt: number
  /** The feeds that get the notice. */
  readonly subscribers: Iterable<Subscriber>
  /** Closes the connection, so that the client comes again with another token. */
  expire(): void
}

/** All such connections. */
export interface TokenWatch {
  /** Watches a connection; the answer ends it. */
  add(holder: TokenHolder): () => void
  stop(): void
}

/** The time of the notice before the end of a token. */
const noticeMs = 30_000

/** Reads the clock every second, for a timer would not notice when the clock is set. */
export function watchTokens(clock: Clock): TokenWatch {
  const holders = new Map<TokenHolder, { isNotified: boolean }>()
  const timer = setInterval(look, 1_000)
  timer.unref()

  function look(): void {
    const now = nowMs(clock)
    for (const [holder, state] of holders) {
      const leftMs = holder.expiresAt * 1_000 - now
      if (leftMs <= 0) {
        holders.delete(holder)
        holder.expire()
      } else if (leftMs <= noticeMs && !state.isNotified) {
        state.isNotified = true
        const notice = { topic: 'TOKEN_EXPIRING', expiresAt: holder.expiresAt } as const
        for (const subscriber of holder.subscribers) void subscriber.emit(notice)
      }
    }
  }

  return {
    add: (holder) => {
      holders.set(holder, { isNotified: false })
      return () => holders.delete(holder)
    },
    stop: () => clearInterval(timer),
  }
}

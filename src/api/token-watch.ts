import { type Clock, nowMs } from '../lib/clock.ts'
import type { Subscriber } from '../service/feed/follow-ledger-updates.ts'
import type { Identity, TokenEnded } from './auth.ts'

/** Closes connections when their token expires or is revoked. Feeds get a notice before the expiry. */

/** A connection that was opened with a token. */
export interface TokenHolder {
  readonly identity: Pick<Identity, 'expiresAt' | 'ended'>
  /** The feeds that receive the notice. */
  readonly subscribers: Iterable<Subscriber>
  /** Closes the connection, so that the client reconnects with another token. */
  end(code: TokenEnded['code']): void
}

/** The watched connections. */
export interface TokenWatch {
  /** Watches a connection until the returned function is called. */
  add(holder: TokenHolder): () => void
  /** Checks all connections now, because tokens were revoked. */
  check(): void
  stop(): void
}

/** Milliseconds between the notice and the expiry of a token. */
const noticeMs = 30_000

/** Starts a check every second, because a timer for the expiry would not notice changes of the clock. */
export function watchTokens(clock: Clock): TokenWatch {
  const holders = new Map<TokenHolder, { isNotified: boolean }>()
  const timer = setInterval(check, 1_000)
  timer.unref()

  function check(): void {
    const now = nowMs(clock)
    for (const [holder, state] of holders) {
      const { expiresAt, ended } = holder.identity
      const end = ended()
      if (end !== undefined) {
        holders.delete(holder)
        holder.end(end.code)
      } else if (
        !state.isNotified &&
        expiresAt !== undefined &&
        expiresAt * 1_000 - now <= noticeMs
      ) {
        state.isNotified = true
        const notice = { topic: 'TOKEN_EXPIRING', expiresAt } as const
        for (const subscriber of holder.subscribers) void subscriber.emit(notice)
      }
    }
  }

  return {
    add: (holder) => {
      holders.set(holder, { isNotified: false })
      return () => holders.delete(holder)
    },
    check,
    stop: () => clearInterval(timer),
  }
}

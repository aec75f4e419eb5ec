import { type Clock, nowMs } from '../../lib/clock.ts'
import type { Subscriber } from '../../service/feed/follow-ledger-updates.ts'
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
  const holders = new Set<TokenHolder>()
  const notified = new WeakSet<Subscriber>()
  const timer = setInterval(check, 1_000)
  timer.unref()

  function check(): void {
    const now = nowMs(clock)
    for (const holder of holders) {
      const { expiresAt, ended } = holder.identity
      const end = ended()
      if (end !== undefined) {
        holders.delete(holder)
        holder.end(end.code)
      } else if (expiresAt !== undefined && expiresAt * 1_000 - now <= noticeMs) {
        notify(holder.subscribers, expiresAt)
      }
    }
  }

  /** Sends the notice to the feeds that have not received it; a feed may begin after the others of its connection have. */
  function notify(subscribers: Iterable<Subscriber>, expiresAt: number): void {
    for (const subscriber of subscribers) {
      if (notified.has(subscriber)) continue
      notified.add(subscriber)
      void subscriber.emit({ topic: 'TOKEN_EXPIRING', expiresAt })
    }
  }

  return {
    add: (holder) => {
      holders.add(holder)
      return () => holders.delete(holder)
    },
    check,
    stop: () => clearInterval(timer),
  }
}

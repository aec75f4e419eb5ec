import { type Clock, nowMs } from '../lib/clock.ts'
import type { Subscriber } from '../service/feed/follow-ledger-updates.ts'
import type { Identity, TokenEnded } from './auth.ts'

/** Closes connections when their token expires, after a notice to their feeds, or is revoked. */

/** A connection that was opened with a token. */
export interface TokenHolder {
  readonly identity: Pick<Identity, 'expiresAt' | 'ended'>
  /** The feeds that get the notice. */
  readonly subscribers: Iterable<Subscriber>
  /** Closes the connection, so that the client comes again with another token. */
  end(code: TokenEnded['code']): void
}

/** All such connections. */
export interface TokenWatch {
  /** Watches a connection; the answer ends it. */
  add(holder: TokenHolder): () => void
  /** Looks now, for tokens were revoked. */
  look(): void
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
    look,
    stop: () => clearInterval(timer),
  }
}

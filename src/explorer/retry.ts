import type { Failure } from './graphql.ts'
import { pauseOf } from './live.ts'

/** Repeats failed requests of a page as long as another answer is possible. */

/** The next repetition of the request of one page. */
export interface Retry {
  /** Plans to repeat a request that failed; returns whether it is repeated. */
  plan(failure: Failure): boolean
  isPlanned(): boolean
  cancel(): void
  /** Cancels it for good, when the page is closed. */
  close(): void
}

/** Creates it for a function that sends the request. If the user has to sign in, the page also repeats it when the user returns. */
export function createRetry(request: () => void): Retry {
  let timer: ReturnType<typeof setTimeout> | undefined
  let isForUser = false

  function cancel(): void {
    clearTimeout(timer)
    timer = undefined
  }

  function onReturn(): void {
    if (timer !== undefined && isForUser && !document.hidden) request()
  }

  for (const event of returnEvents) addEventListener(event, onReturn)
  return {
    plan: (failure) => {
      cancel()
      isForUser = mayUserEnd(failure)
      if (!isForUser && !isTemporary(failure)) return false
      const pauseMs = isForUser ? userPauseMs : temporaryPauseMs
      timer = setTimeout(request, Math.max(pauseMs, pauseOf(failure.retryAfterMs)))
      return true
    },
    isPlanned: () => timer !== undefined,
    cancel,
    close: () => {
      cancel()
      for (const event of returnEvents) removeEventListener(event, onReturn)
    },
  }
}

/** The events after which the user may have signed in elsewhere. */
const returnEvents = ['visibilitychange', 'focus', 'online'] as const

const temporaryPauseMs = 2_000

/** A long pause, because some servers block a client that is refused often. */
const userPauseMs = 30_000

/** Whether the failure may be gone when the request is repeated. */
function isTemporary({ code }: Failure): boolean {
  return temporaryCodes.has(code) || /^HTTP_(?:5|408|429)/.test(code)
}

/** Whether the user may have to sign in: the token was refused, or another server answered, such as the login page of a network. */
function mayUserEnd(failure: Failure): boolean {
  return /^(?:HTTP|TOKEN)_/.test(failure.code) && !isTemporary(failure)
}

const temporaryCodes: ReadonlySet<string> = new Set([
  'OFFLINE',
  'STORE_AWAY',
  'QUERY_TOO_LONG',
  'INTERNAL',
  'OPERATION_LIMIT',
  'RATE_LIMIT_EXCEEDED',
  'GATEWAY_OVERLOADED',
  'GATEWAY_DRAINING',
  'NOT_TOLD_BY_NODE',
])

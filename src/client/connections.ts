import {
  type Answer,
  answerIn,
  answerOf,
  endpointOf,
  type Failure,
  type GatewayOptions,
  type GraphqlResult,
  refused,
} from './query.ts'
import { openStream } from './stream.ts'

/** The answers of a subscription, over as many connections as it takes. */

/** How a broken connection is noticed and followed by another one. */
export interface ConnectionOptions extends GatewayOptions {
  /** The longest pause before a new connection, in milliseconds; 30 seconds by default. */
  readonly longestPauseMs?: number
  /** A connection without a message for so long is closed; 90 seconds by default. */
  readonly silenceMs?: number
}

/** What is subscribed to. */
export interface Subscription<Data> {
  /** The body of the request of the next connection. */
  body(): object
  /** The refusal in an answer; `undefined` where there is none. */
  refusalIn(answer: Answer<Data>): Failure | undefined
  /** Whether a subscription that the gateway completes is over, or begins again. */
  readonly onComplete: 'end' | 'reconnect'
}

/**
 * The answers, for ever. Ends with the signal, with `return()`, or after a refusal that another connection would not change, which
 * is the last answer.
 */
export async function* receive<Data>(
  options: ConnectionOptions,
  subscription: Subscription<Data>,
): AsyncGenerator<Answer<Data>, void, undefined> {
  const { url, longestPauseMs = 30_000, signal } = options
  if (!isGatewayUrl(url)) {
    yield refused('URL_MALFORMED', `url: expected http(s)://HOST[:PORT][/PATH], not ${url}`)
    return
  }
  const pauses = createPauses(longestPauseMs)
  while (signal?.aborted !== true) {
    let ending: Ending
    const answers = connect(options, subscription)
    try {
      for (;;) {
        const next = await answers.next()
        if (next.done) {
          ending = next.value
          break
        }
        pauses.reset()
        yield next.value
      }
    } finally {
      await answers.return('complete')
    }
    if (ending === 'complete') {
      if (subscription.onComplete === 'end') return
      ending = { retryAfterMs: 0 }
    }
    if ('code' in ending) {
      yield { ok: false, failure: ending }
      return
    }
    await pauses.wait(ending.retryAfterMs, signal)
  }
}

/** Whether `fetch` accepts it; in a browser a text without a host is relative to the page. */
function isGatewayUrl(url: string): boolean {
  try {
    return /^https?:/.test(new Request(url).url)
  } catch {
    return false
  }
}

/** Why a connection ended: for good, or to be opened again. */
type Ending = Failure | 'complete' | { readonly retryAfterMs: number }

/** The answers of one connection. */
async function* connect<Data>(
  options: ConnectionOptions,
  subscription: Subscription<Data>,
): AsyncGenerator<Answer<Data>, Ending, undefined> {
  const body = JSON.stringify(subscription.body())
  const timeout = createTimeout(options.silenceMs ?? 90_000, options.signal)
  try {
    const headers = (await options.headers?.()) ?? {}
    const { signal } = timeout
    const opened = await openStream({ url: endpointOf(options.url), body, headers, signal })
    if (!opened.isOpen) {
      const { status, retryAfterMs, message } = opened
      if (isPassing(status)) return { retryAfterMs }
      const missing = { code: `HTTP_${status}`, message }
      const answer = answerIn(message, missing)
      return endingOf(answer.ok ? refused(missing.code, message).failure : answer.failure)
    }
    for (;;) {
      const next = await opened.events.next()
      if (next.done) return next.value === 'complete' ? next.value : { retryAfterMs: 0 }
      timeout.restart()
      const result: GraphqlResult<Data> = JSON.parse(next.value)
      if (result.data == null && result.errors === undefined) continue
      const answer = answerOf(result, { code: 'UNKNOWN', message: '' })
      const refusal = subscription.refusalIn(answer)
      if (refusal !== undefined) return endingOf(refusal)
      // The time that the consumer takes does not count as silence.
      timeout.pause()
      yield answer
      timeout.restart()
    }
  } catch {
    // No answer, or a broken connection: either way the feed connects again.
  } finally {
    timeout.abort()
  }
  return { retryAfterMs: 0 }
}

function endingOf(refusal: Failure): Ending {
  return mayPass(refusal) ? { retryAfterMs: 1_000 } : refusal
}

/** Whether another gateway, or the same one a little later, may accept what this one refuses now. */
export function mayPass({ code }: Failure): boolean {
  return passing.includes(code)
}

const passing = [
  'CONNECTION_LIMIT',
  'SUBSCRIPTION_LIMIT',
  'GATEWAY_DRAINING',
  'CURSOR_AHEAD_OF_TIP',
  'INTERNAL',
  'STORE_AWAY',
]

/** 401 too, because the next connection may have another token. */
function isPassing(status: number): boolean {
  return status >= 500 || status === 401 || status === 408 || status === 429
}

/** Pauses that double from a quarter of a second, each a random part of that, so that thousands do not reconnect at once. */
function createPauses(longestMs: number) {
  let next = 250

  async function wait(leastMs: number, signal: AbortSignal | undefined): Promise<void> {
    const pause = leastMs + Math.random() * next
    next = Math.min(2 * next, longestMs)
    if (signal?.aborted) return
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, pause)
      signal?.addEventListener('abort', done)
    })
  }

  return {
    wait,
    reset: () => {
      next = 250
    },
  }
}

/** Aborts a connection by call, with the feed, or after a silence. */
function createTimeout(silenceMs: number, feed: AbortSignal | undefined) {
  const controller = new AbortController()
  const abort = () => {
    clearTimeout(timer)
    feed?.removeEventListener('abort', abort)
    controller.abort()
  }
  let timer = setTimeout(abort, silenceMs)
  feed?.addEventListener('abort', abort)

  function restart(): void {
    clearTimeout(timer)
    timer = setTimeout(abort, silenceMs)
  }

  return { signal: controller.signal, restart, pause: () => clearTimeout(timer), abort }
}

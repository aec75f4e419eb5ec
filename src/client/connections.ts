import {
  type Answer,
  answerOf,
  endpointOf,
  type Failure,
  failed,
  type GatewayOptions,
  type GraphqlResult,
  headersOf,
  isGatewayUrl,
  malformedUrl,
  parseAnswer,
} from './query.ts'
import { type EventStream, openStream } from './stream.ts'

/** Receives the answers of a subscription, and reconnects as often as needed. */

/** How a broken connection is detected and replaced. */
export interface ConnectionOptions extends GatewayOptions {
  /** Maximum pause before a new connection, in milliseconds; 30 seconds by default. */
  readonly longestPauseMs?: number
  /**
   * Milliseconds without a byte after which a connection is closed; 90 seconds by default. A gateway sends a comment when a stream had no
   * event for 33 seconds.
   */
  readonly silenceMs?: number
  /**
   * Is called whenever a connection was lost or could not be opened, before the pause after which the next one is tried, with the reason:
   * the error of the gateway, `HTTP_` and a status, `OFFLINE`, or `HEADERS_FAILED` if `headers` threw.
   */
  readonly onDisconnected?: (failure: Failure) => void
}

/** A subscription to receive. */
export interface Subscription<Data> {
  /** Returns the request body for the next connection. */
  body(): object
  /** Returns the failure in an answer that ends the connection; `undefined` if there is none. */
  refusalIn(answer: Answer<Data>): Failure | undefined
  /** Whether an answer shows that the subscription advances; the first answer of a connection often only repeats what is known. */
  isProgress(answer: Answer<Data>, isFirst: boolean): boolean
  /** Whether to end or to reconnect when the gateway completes the subscription. */
  readonly onComplete: 'end' | 'reconnect'
}

/**
 * Yields the answers without end. Ends when the signal aborts, on `return()`, or after a failure that reconnecting cannot solve;
 * that failure is the last answer.
 */
export async function* receive<Data>(
  options: ConnectionOptions,
  subscription: Subscription<Data>,
): AsyncGenerator<Answer<Data>, void, undefined> {
  const { url, longestPauseMs = 30_000, signal } = options
  if (!isGatewayUrl(url)) {
    yield malformedUrl(url)
    return
  }
  const backoff = createBackoff(longestPauseMs)
  let isFollowing = false
  while (signal?.aborted !== true) {
    let ending: Ending
    const begunAt = performance.now()
    const answers = connect(options, subscription)
    try {
      for (let isFirst = true; ; isFirst = false) {
        const next = await answers.next()
        // Events that arrived together with the one before may still be there.
        if (signal?.aborted) return
        if (next.done) {
          ending = next.value
          break
        }
        if (subscription.isProgress(next.value, isFirst)) backoff.reset()
        isFollowing = true
        yield next.value
      }
    } finally {
      await answers.return(completed)
    }
    if (ending === completed && subscription.onComplete === 'end') return
    const { failure } = ending
    // The position of a subscription that has already received an answer comes from a gateway, and this one may lag behind it.
    const isAhead = isFollowing && failure.code === 'MILESTONE_NOT_COMMITTED'
    if (!ending.isTemporary && !isAhead) {
      yield { ok: false, failure }
      return
    }
    if (performance.now() - begunAt >= steadyMs) backoff.reset()
    if (!signal?.aborted) options.onDisconnected?.(failure)
    await backoff.wait(ending.isTemporary ? (failure.retryAfterMs ?? 0) : refusedMs, signal)
  }
}

/** Milliseconds after which a connection that ends counts as a working one, also without progress. */
const steadyMs = 10_000

/**
 * Creates a generator that also ends while its consumer waits for an event: its `return` and its `throw` abort the signal of the options.
 * Those of an async generator alone wait until the next event has arrived.
 */
export function stoppable<Options extends ConnectionOptions, Event>(
  options: Options,
  generate: (options: Options) => AsyncGenerator<Event, void, undefined>,
): AsyncGenerator<Event, void, undefined> {
  const controller = new AbortController()
  const abort = () => controller.abort()

  async function* events(): AsyncGenerator<Event, void, undefined> {
    const { signal } = options
    signal?.addEventListener('abort', abort)
    if (signal?.aborted) abort()
    try {
      yield* generate({ ...options, signal: controller.signal })
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  const generator = events()
  const end = generator.return.bind(generator)
  const fail = generator.throw.bind(generator)
  generator.return = (value) => {
    abort()
    return end(value)
  }
  generator.throw = (error) => {
    abort()
    return fail(error)
  }
  return generator
}

/** Why a connection ended, and whether a later connection may succeed. */
interface Ending {
  readonly failure: Failure
  readonly isTemporary: boolean
}

/** The gateway completed the subscription. */
const completed = lost('the gateway completed the subscription')

function lost(message: string, code = 'OFFLINE'): Ending {
  return { failure: failed(code, message).failure, isTemporary: true }
}

/** Yields the answers of one connection. */
async function* connect<Data>(
  options: ConnectionOptions,
  subscription: Subscription<Data>,
): AsyncGenerator<Answer<Data>, Ending, undefined> {
  const body = JSON.stringify(subscription.body())
  const timeout = createTimeout(options.silenceMs ?? 90_000, options.signal)
  let faultCode = 'HEADERS_FAILED'
  try {
    const { signal } = timeout
    const headers = await headersOf(options, signal)
    faultCode = 'OFFLINE'
    const request = { url: endpointOf(options.url), body, headers, signal }
    const opened = await openStream({ ...request, onBytes: timeout.restart })
    if (!opened.isOpen) return endingOfResponse(opened)
    for (;;) {
      const next = await opened.events.next()
      if (next.done) return next.value === 'complete' ? completed : lost('the connection was lost')
      timeout.restart()
      const result: GraphqlResult<Data> = JSON.parse(next.value)
      if (result.data == null && result.errors === undefined) continue
      const answer = answerOf(result, { code: 'UNKNOWN', message: '' })
      const refusal = subscription.refusalIn(answer)
      if (refusal !== undefined) return endingOf(refusal)
      // The time that the consumer needs does not count as silence.
      timeout.pause()
      yield answer
      timeout.restart()
    }
  } catch (error) {
    // There are no headers, the gateway did not answer, or the connection broke: the subscription reconnects in all cases.
    return lost(String(error), faultCode)
  } finally {
    timeout.abort()
  }
}

function endingOfResponse({
  status,
  retryAfterMs,
  message,
}: Extract<EventStream, { readonly isOpen: false }>): Ending {
  const missing = { code: `HTTP_${status}`, message }
  const answer = parseAnswer(message, missing)
  const { failure } = answer.ok ? failed(missing.code, message) : answer
  const isTemporary = isTemporaryStatus(status)
  return isTemporary ? { failure: { ...failure, retryAfterMs }, isTemporary } : endingOf(failure)
}

function endingOf(failure: Failure): Ending {
  if (!isTemporary(failure)) return { failure, isTemporary: false }
  return { failure: { ...failure, retryAfterMs: refusedMs }, isTemporary: true }
}

/** Minimum milliseconds until a refused subscription is requested again. */
const refusedMs = 1_000

/** Whether another gateway, or the same gateway a little later, may accept the request. */
export function isTemporary({ code }: Failure): boolean {
  return temporaryCodes.includes(code)
}

const temporaryCodes = [
  'CONNECTION_LIMIT',
  'SUBSCRIPTION_LIMIT',
  'GATEWAY_DRAINING',
  'CURSOR_AHEAD_OF_TIP',
  'INTERNAL',
  'STORE_AWAY',
]

/** Whether a later request may succeed. 401 is temporary because the next connection may have another token. */
function isTemporaryStatus(status: number): boolean {
  return status >= 500 || status === 401 || status === 408 || status === 429
}

/** Exponential backoff from a quarter of a second, with full jitter, so that thousands of clients do not reconnect at once. */
function createBackoff(maxMs: number) {
  const firstMs = Math.min(250, maxMs)
  let next = firstMs

  async function wait(minMs: number, signal: AbortSignal | undefined): Promise<void> {
    const pause = minMs + Math.random() * next
    next = Math.min(2 * next, maxMs)
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
      next = firstMs
    },
  }
}

/** Maximum delay of a timer. A timer with a longer one, such as `Infinity`, fires at once. */
const maxDelayMs = 2 ** 31 - 1

/** Aborts a connection when `abort` is called, when the signal of the feed aborts, or after `silenceMs` without a message. */
function createTimeout(silenceMs: number, feed: AbortSignal | undefined) {
  const delayMs = Math.min(silenceMs, maxDelayMs)
  const controller = new AbortController()
  const abort = () => {
    clearTimeout(timer)
    feed?.removeEventListener('abort', abort)
    controller.abort()
  }
  let timer = setTimeout(abort, delayMs)
  feed?.addEventListener('abort', abort)
  // The function that computes the variables may have aborted it.
  if (feed?.aborted) abort()

  function restart(): void {
    clearTimeout(timer)
    timer = setTimeout(abort, delayMs)
  }

  return { signal: controller.signal, restart, pause: () => clearTimeout(timer), abort }
}

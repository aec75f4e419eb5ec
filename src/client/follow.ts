import { type FeedEvent, feedDocument, type UpdateClass } from './events.ts'
import { createHistory, type History, type HistoryBroken } from './history.ts'
import { openStream } from './stream.ts'

/** Follows the ledger updates of a gateway for ever: resumes by itself, and checks that no update is missing or repeated. */

export type { FeedEvent, FeedUpdate } from './events.ts'

export interface FollowOptions {
  /** The root of the gateway, such as `http://localhost:4000`. */
  readonly url: string
  /** 1 to 100 Bech32 texts; left out: the whole ledger. */
  readonly addresses?: readonly string[]
  /** `OWNED` alone by default. */
  readonly classes?: readonly UpdateClass[]
  /** A cursor; left out, with `afterMilestone`: only what is committed from now on. */
  readonly after?: string
  /** A milestone in place of a cursor: begin with the one after it. */
  readonly afterMilestone?: number
  /** Begin with the outputs of the addresses that are unspent at that position. */
  readonly snapshot?: boolean
  /** More headers, such as `authorization`; called for every connection. */
  readonly headers?: () => Record<string, string> | Promise<Record<string, string>>
  /** Ends the feed. */
  readonly signal?: AbortSignal
  /** The longest pause before a new connection, in milliseconds; 30 seconds by default. */
  readonly longestPauseMs?: number
  /** A connection without a message for so long is closed; 90 seconds by default. */
  readonly silenceMs?: number
}

/** The last event of a feed that cannot continue. */
export interface FeedEnded {
  readonly __typename: 'FeedEnded'
  /** `HISTORY_BROKEN`, `URL_MALFORMED`, or the code of the gateway's refusal, or `HTTP_` and a status. */
  readonly code: string
  readonly message: string
  /** The last cursor; `undefined` if the feed never began. */
  readonly cursor: string | undefined
}

/**
 * The events of the feed, for ever, over as many connections as it takes: each begins after the cursor of the last event.
 * Resuming shows only as another `FeedOpened`; before a snapshot is complete, that begins everything again. Ends with the
 * signal, with `return()`, after a `FeedReset`, or with `FeedEnded` if another connection would not help.
 */
export async function* follow(
  options: FollowOptions,
): AsyncGenerator<FeedEvent | FeedEnded, void, undefined> {
  const { after, snapshot = false } = options
  const history = createHistory({ after, snapshot })
  const pauses = createPauses(options.longestPauseMs ?? 30_000)
  if (!isGatewayUrl(options.url)) {
    const message = `url: expected http(s)://HOST[:PORT][/PATH], not ${options.url}`
    yield { __typename: 'FeedEnded', code: 'URL_MALFORMED', message, cursor: history.cursor() }
    return
  }
  while (options.signal?.aborted !== true) {
    let ending: Ending
    const events = openFeed(options, history)
    try {
      for (;;) {
        const next = await events.next()
        if (next.done) {
          ending = next.value
          break
        }
        pauses.reset()
        yield next.value
        if (next.value.__typename === 'FeedReset') return
      }
    } finally {
      await events.return({ retryAfterMs: 0 })
    }
    if ('code' in ending) {
      const { code, message } = ending
      yield { __typename: 'FeedEnded', code, message, cursor: history.cursor() }
      return
    }
    await pauses.wait(ending.retryAfterMs, options.signal)
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
type Ending =
  | { readonly code: string; readonly message: string }
  | { readonly retryAfterMs: number }

/** The events of one connection. */
async function* openFeed(
  options: FollowOptions,
  history: History,
): AsyncGenerator<FeedEvent, Ending, undefined> {
  const timeout = createTimeout(options.silenceMs ?? 90_000, options.signal)
  try {
    const opened = await openStream({
      url: `${options.url.replace(/\/$/, '')}/graphql`,
      body: JSON.stringify({ query: feedDocument, variables: variablesOf(options, history) }),
      headers: (await options.headers?.()) ?? {},
      signal: timeout.signal,
    })
    if (!opened.isOpen) {
      const { status, retryAfterMs, message } = opened
      return isPassing(status) ? { retryAfterMs } : { code: `HTTP_${status}`, message }
    }
    for await (const text of opened.events) {
      timeout.restart()
      const { data, errors }: FeedResult = JSON.parse(text)
      const refusal = errors?.[0]
      if (refusal !== undefined) return endingOf(refusal)
      const event = data?.event
      if (event === undefined) continue
      const fault: HistoryBroken | undefined = await history.check(event)
      if (fault !== undefined) return fault
      // The time that the consumer takes does not count as silence.
      timeout.pause()
      yield event
      timeout.restart()
    }
  } catch {
    // No answer, or a broken connection: either way the feed connects again.
  } finally {
    timeout.abort()
  }
  return { retryAfterMs: 0 }
}

interface FeedResult {
  readonly data?: { readonly event?: FeedEvent } | null
  readonly errors?: readonly Refusal[]
}

interface Refusal {
  readonly message: string
  readonly extensions?: { readonly code?: string }
}

function variablesOf(options: FollowOptions, history: History): Record<string, unknown> {
  const { addresses, classes = ['OWNED'], afterMilestone } = options
  const after = history.cursor()
  return {
    addresses,
    classes,
    after,
    ...(after === undefined && { afterMilestone }),
    // After a complete snapshot the updates contain what follows.
    snapshot: history.wantsSnapshot(),
  }
}

/** Another gateway, or the same one a little later, may accept what this one refuses now. */
function endingOf({ message, extensions }: Refusal): Ending {
  const code = extensions?.code ?? 'UNKNOWN'
  return passing.includes(code) ? { retryAfterMs: 1_000 } : { code, message }
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

import { type FeedEvent, feedDocument, type UpdateClass } from './events.ts'
import { createHistory, type History, type HistoryBroken } from './history.ts'
import { openLine } from './stream.ts'

/** Follows the ledger updates of a gateway for ever: resumes by itself, and checks that nothing is missing or told twice. */

export type { FeedEvent, FeedUpdate } from './events.ts'

/** What to follow, where, and from where on. */
export interface FollowOptions {
  /** The root of the gateway, such as `http://localhost:4000`. */
  readonly url: string
  /** 1 to 100 Bech32 texts; left out: the whole ledger. */
  readonly addresses?: readonly string[]
  /** `OWNED` alone by default. */
  readonly classes?: readonly UpdateClass[]
  /** A cursor; left out, with `afterMilestone`: only what is committed from now on. */
  readonly after?: string
  /** A milestone in place of a cursor: begin with the one behind it. */
  readonly afterMilestone?: number
  /** Begin with the outputs of the addresses that are unspent at that place. */
  readonly snapshot?: boolean
  /** More headers, such as `authorization`; asked for anew with every line. */
  readonly headers?: () => Record<string, string> | Promise<Record<string, string>>
  /** Ends the feed. */
  readonly signal?: AbortSignal
  /** The longest pause before coming back, in milliseconds; 30 seconds by default. */
  readonly longestPauseMs?: number
  /** A line without a word for so long is given up; 90 seconds by default. */
  readonly silenceMs?: number
}

/** The last event of a feed that cannot go on by itself. */
export interface FeedEnded {
  readonly __typename: 'FeedEnded'
  /** `HISTORY_BROKEN`, `URL_MALFORMED`, or the code of the gateway's refusal, or `HTTP_` and a status. */
  readonly code: string
  readonly message: string
  /** Where it was; `undefined` where it never began. */
  readonly cursor: string | undefined
}

/**
 * The events of the feed, for ever, over as many lines as it takes: each begins after the cursor of the last event.
 * Resuming is silent but for another `FeedOpened`; before a snapshot is complete, that begins everything anew. Ends with
 * the signal, with `return()`, after a `FeedReset`, or with `FeedEnded` where coming back would not help.
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
    const line = openFeed(options, history)
    try {
      for (;;) {
        const next = await line.next()
        if (next.done) {
          ending = next.value
          break
        }
        pauses.forget()
        yield next.value
        if (next.value.__typename === 'FeedReset') return
      }
    } finally {
      await line.return({ retryAfterMs: 0 })
    }
    if ('code' in ending) {
      const { code, message } = ending
      yield { __typename: 'FeedEnded', code, message, cursor: history.cursor() }
      return
    }
    await pauses.wait(ending.retryAfterMs, options.signal)
  }
}

/** What `fetch` would refuse for ever; in a browser a text without a host is one of the page's own. */
function isGatewayUrl(url: string): boolean {
  try {
    return /^https?:/.test(new Request(url).url)
  } catch {
    return false
  }
}

/** Why a line ended: for good, or to be taken up again. */
type Ending =
  | { readonly code: string; readonly message: string }
  | { readonly retryAfterMs: number }

/** One line, from its opening to its end. */
async function* openFeed(
  options: FollowOptions,
  history: History,
): AsyncGenerator<FeedEvent, Ending, undefined> {
  const line = createCutter(options.silenceMs ?? 90_000, options.signal)
  try {
    const opened = await openLine({
      url: `${options.url.replace(/\/$/, '')}/graphql`,
      body: JSON.stringify({ query: feedDocument, variables: variablesOf(options, history) }),
      headers: (await options.headers?.()) ?? {},
      signal: line.signal,
    })
    if (!opened.isOpen) {
      const { status, retryAfterMs, message } = opened
      return isPassing(status) ? { retryAfterMs } : { code: `HTTP_${status}`, message }
    }
    for await (const text of opened.events) {
      line.heard()
      const { data, errors }: FeedResult = JSON.parse(text)
      const refusal = errors?.[0]
      if (refusal !== undefined) return endingOf(refusal)
      const event = data?.event
      if (event === undefined) continue
      const fault: HistoryBroken | undefined = await history.check(event)
      if (fault !== undefined) return fault
      // How long the reader takes is no silence of the line.
      line.rest()
      yield event
      line.heard()
    }
  } catch {
    // Nobody answers, or the line broke: whatever it was, what counts is to come back.
  } finally {
    line.cut()
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
    // Once it was told whole, what follows is in the updates.
    snapshot: history.wantsSnapshot(),
  }
}

/** Another gateway, or the same a little later, may do what this one cannot do now. */
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

/** 401 too, for the next line may have another token. */
function isPassing(status: number): boolean {
  return status >= 500 || status === 401 || status === 408 || status === 429
}

/** Pauses that double from a quarter of a second, each cut to a random part: thousands must not come back together. */
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
    forget: () => {
      next = 250
    },
  }
}

/** Cuts a line by hand, with the feed, or after a silence. */
function createCutter(silenceMs: number, feed: AbortSignal | undefined) {
  const controller = new AbortController()
  const cut = () => {
    clearTimeout(timer)
    feed?.removeEventListener('abort', cut)
    controller.abort()
  }
  let timer = setTimeout(cut, silenceMs)
  feed?.addEventListener('abort', cut)

  function heard(): void {
    clearTimeout(timer)
    timer = setTimeout(cut, silenceMs)
  }

  return { signal: controller.signal, heard, rest: () => clearTimeout(timer), cut }
}

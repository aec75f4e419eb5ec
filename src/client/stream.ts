/** Server-sent events by `fetch`, which unlike `EventSource` can carry a token, and waits for those who read slowly. */

/** A line that was opened, or why it was not. */
export type Line =
  | { readonly isOpen: true; readonly events: AsyncIterable<string> }
  | {
      readonly isOpen: false
      readonly status: number
      readonly retryAfterMs: number
      readonly message: string
    }

/** What to ask. */
export interface LineRequest {
  readonly url: string
  /** The body of the request, as JSON. */
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
  /** Cuts the line. */
  readonly signal: AbortSignal
}

/** Opens a line. Throws as `fetch` does where nobody answers; the events throw where the line breaks. */
export async function openLine({ url, body, headers, signal }: LineRequest): Promise<Line> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
    body,
    signal,
  })
  if (response.status === 200 && response.body !== null) {
    return { isOpen: true, events: resultsOf(response.body) }
  }
  const retryAfterMs = pauseAskedFor(response.headers.get('retry-after') ?? '0')
  const message = await response.text()
  return { isOpen: false, status: response.status, retryAfterMs, message }
}

/** `Retry-After` in milliseconds: a gateway names seconds there, what stands before it may name a date (RFC 9110 10.2.3). */
function pauseAskedFor(retryAfter: string): number {
  const seconds = Number(retryAfter)
  const ms = Number.isNaN(seconds) ? Date.parse(retryAfter) - Date.now() : 1_000 * seconds
  // What is neither says nothing; and a timer that is asked for too much fires at once.
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), longestPauseMs)
}

/** An hour. */
const longestPauseMs = 3_600_000

/** The data of each `next` event; ends with `complete`, or with the line. */
async function* resultsOf(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<string, void, undefined> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      text += decoder.decode(value, { stream: true })
      for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
        const fields = text.slice(0, end).split('\n')
        text = text.slice(end + 2)
        const field = (name: string) => fields.find((line) => line.startsWith(name))
        if (field('event: complete') !== undefined) return
        const data = field('data: ')
        if (data !== undefined) yield data.slice('data: '.length)
      }
    }
  } finally {
    // Whoever leaves in the middle wants no more; the line is cut by its signal.
    reader.releaseLock()
  }
}

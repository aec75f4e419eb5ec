/** Server-sent events by `fetch`, which unlike `EventSource` can send a token and applies backpressure for slow consumers. */

/** An open event stream, or the response that refused it. */
export type EventStream =
  | { readonly isOpen: true; readonly events: AsyncGenerator<string, StreamEnding, undefined> }
  | {
      readonly isOpen: false
      readonly status: number
      readonly retryAfterMs: number
      readonly message: string
    }

/** Whether the gateway completed the stream, or only the connection ended. */
export type StreamEnding = 'complete' | 'cut'

export interface StreamRequest {
  readonly url: string
  /** Request body, as JSON. */
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
  /** Closes the stream. */
  readonly signal: AbortSignal
  /** Is called whenever bytes of the stream arrive. A gateway sends a comment when there was no event for a while. */
  readonly onBytes: () => void
}

/** Opens a stream. Rejects as `fetch` does if there is no response; the events throw when the connection breaks. */
export async function openStream({
  url,
  body,
  headers,
  signal,
  onBytes,
}: StreamRequest): Promise<EventStream> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
    body,
    signal,
  })
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  if (response.status === 200 && isStream && response.body !== null) {
    return { isOpen: true, events: resultsOf(response.body, onBytes) }
  }
  const retryAfterMs = retryAfterOf(response)
  const message = await response.text()
  return { isOpen: false, status: response.status, retryAfterMs, message }
}

/** `Retry-After` in milliseconds, 0 without it: a gateway sends seconds, a proxy may send a date (RFC 9110 10.2.3). */
export function retryAfterOf({ headers }: Response): number {
  const retryAfter = headers.get('retry-after') ?? '0'
  const seconds = Number(retryAfter)
  const ms = Number.isNaN(seconds) ? Date.parse(retryAfter) - Date.now() : 1_000 * seconds
  // Other texts are ignored. The limit is needed because a timer with too long a delay fires at once.
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), maxPauseMs)
}

/** An hour. */
const maxPauseMs = 3_600_000

/** Yields the data of each `next` event. */
async function* resultsOf(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void,
): AsyncGenerator<string, StreamEnding, undefined> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  // The pieces of an event are joined once: a search in the whole text after each piece would take the square of its length.
  let pieces: string[] = []
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return 'cut'
      onBytes()
      const last = pieces.at(-1)?.at(-1) ?? ''
      const piece = decoder.decode(value, { stream: true })
      if (piece !== '') pieces.push(piece)
      if (!(last + piece).includes('\n\n')) continue
      let text = pieces.join('')
      for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
        const fields = text.slice(0, end).split('\n')
        text = text.slice(end + 2)
        const field = (name: string) => fields.find((line) => line.startsWith(name))
        if (field('event: complete') !== undefined) return 'complete'
        const data = field('data: ')
        if (data !== undefined) yield data.slice('data: '.length)
      }
      pieces = text === '' ? [] : [text]
    }
  } finally {
    // The signal closes the connection when the consumer returns early.
    reader.releaseLock()
  }
}

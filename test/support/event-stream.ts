/** Reads server-sent events from the wire without a library. Supports only the parts of the format that the gateway sends. */

export interface StreamEvent {
  readonly id: string | undefined
  readonly event: string
  readonly data: string
}

/** An open stream. */
export interface OpenStream {
  readonly response: Response
  /** Returns the next event; `undefined` at the end of the stream. */
  next(): Promise<StreamEvent | undefined>
  /** Returns the parsed data of the next event. */
  // biome-ignore lint/suspicious/noExplicitAny: the shape is that of the query
  result(): Promise<any>
  close(): void
}

/** Opens a stream of events. */
export async function openStream(url: string, init: RequestInit = {}): Promise<OpenStream> {
  const controller = new AbortController()
  const headers = { accept: 'text/event-stream', ...init.headers }
  const response = await fetch(url, { ...init, headers, signal: controller.signal })
  const events = eventsOf(response)

  async function next(): Promise<StreamEvent | undefined> {
    const { value } = await events.next()
    return value ?? undefined
  }

  return {
    response,
    next,
    result: async () => JSON.parse((await next())?.data ?? 'null'),
    close: () => controller.abort(),
  }
}

async function* eventsOf({ body }: Response): AsyncGenerator<StreamEvent, void, undefined> {
  if (body === null) return
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true })
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      const fields = text.slice(0, end).split('\n')
      text = text.slice(end + 2)
      // A comment, by which an idle stream shows that it is open.
      if (fields.every((line) => line.startsWith(':'))) continue
      const value = (name: string) =>
        fields
          .find((line) => line.startsWith(`${name}:`))
          ?.slice(name.length + 1)
          .trim()
      yield { id: value('id'), event: value('event') ?? 'message', data: value('data') ?? '' }
    }
  }
}

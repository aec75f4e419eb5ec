/** Answers of REST before they are sent. */

/** An answer. Header names are lower case. */
export interface RestResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
  /** The body in each coding, where it was compressed beforehand. */
  readonly compressed?: { readonly br: Uint8Array; readonly gzip: Uint8Array }
  /** Of the error that it answers with; it is not sent. */
  readonly code?: string
}

/** An answer that is sent as it is made. */
export interface StreamedResponse extends Omit<RestResponse, 'body'> {
  readonly stream: StreamedBody
}

/** What a route answers. */
export type RouteResponse = RestResponse | StreamedResponse

/** The body of such an answer. */
export interface StreamedBody {
  readonly pieces: AsyncGenerator<string | Uint8Array>
  /** Fires when it is to be broken off. */
  readonly signal: AbortSignal
  /** Called once nothing more is sent of it. */
  over(): void
}

/** What a route's closed list of errors determines about their form. */
export interface RefusalForm {
  /** The only statuses of its answers. */
  readonly statuses?: readonly number[]
  /** A title before the message, by status. */
  readonly titles?: Readonly<Record<number, string>>
}

/** The headers of every JSON answer. */
export const jsonHeaders = { 'content-type': 'application/json; charset=utf-8' } as const

/** A JSON answer. */
export function json(
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): RestResponse {
  return {
    status,
    headers: { ...jsonHeaders, ...headers },
    body: JSON.stringify(value),
  }
}

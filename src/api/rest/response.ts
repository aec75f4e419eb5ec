/** REST responses before they are sent. */

/** A response. Header names are in lower case. */
export interface RestResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
  /** The compressed body by coding, if it was compressed in advance. */
  readonly compressed?: { readonly br: Uint8Array; readonly gzip: Uint8Array }
  /** Code of the error in the response, for metrics and the log; it is not sent. */
  readonly code?: string
}

/** A response that is sent while it is produced. */
export interface StreamedResponse extends Omit<RestResponse, 'body'> {
  readonly stream: StreamedBody
}

export type RouteResponse = RestResponse | StreamedResponse

export interface StreamedBody {
  readonly pieces: AsyncGenerator<string | Uint8Array>
  /** Fires when the stream must end early. */
  readonly signal: AbortSignal
  /** Called when the stream has ended. */
  over(): void
}

/** The form of error responses of a route with a closed list of statuses. */
export interface RefusalForm {
  /** All statuses that the route may answer with. */
  readonly statuses?: readonly number[]
  /** A title before the message, by status. */
  readonly titles?: Readonly<Record<number, string>>
}

export const jsonHeaders = { 'content-type': 'application/json; charset=utf-8' } as const

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

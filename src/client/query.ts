import { documentText, type TypedDocument } from './documents.ts'
import { retryAfterOf } from './stream.ts'

/** Sends one GraphQL document to a gateway in one request. */

/** The gateway to use, and the options of its requests. */
export interface GatewayOptions {
  /** Root URL of the gateway, such as `http://localhost:4000`. */
  readonly url: string
  /** Returns additional headers, such as `authorization`; called for every connection. */
  readonly headers?: () => Record<string, string> | Promise<Record<string, string>>
  /** Aborts the request or the feed. */
  readonly signal?: AbortSignal | undefined
}

/** A document and its variables, which are optional if no variable is required. */
export type DocumentOptions<Data, Variables, Given = Variables> = {
  readonly document: TypedDocument<Data, Variables>
} & (Record<never, never> extends Variables
  ? { readonly variables?: Given }
  : { readonly variables: Given })

/** Why the data of an answer, or a part of it, is missing. */
export interface Failure {
  /** An `ErrorCode` of the gateway, `OFFLINE` if no server answered, `URL_MALFORMED`, or `HTTP_` and a status. */
  readonly code: string
  readonly message: string
  /** Path of the field that is missing; empty if all data is missing. */
  readonly path: readonly (string | number)[]
  /** Milliseconds to wait before another request, if the server has set `Retry-After`. */
  readonly retryAfterMs?: number
}

/** An answer. Its data lacks the fields that failed. */
export type Answer<Data> =
  | { readonly ok: true; readonly data: Data; readonly failures: readonly Failure[] }
  | { readonly ok: false; readonly failure: Failure }

/** A GraphQL result in its wire format. */
export interface GraphqlResult<Data> {
  readonly data?: Data | null
  readonly errors?: readonly {
    readonly message: string
    readonly path?: readonly (string | number)[]
    readonly extensions?: { readonly code?: string }
  }[]
}

/** Sends a query or a mutation. Rejects only when the signal aborts, or `headers` throws or returns invalid headers. */
export async function query<Data = unknown, Variables = unknown>(
  options: GatewayOptions & DocumentOptions<Data, Variables>,
): Promise<Answer<Data>> {
  const { url, document, variables, signal } = options
  if (!isGatewayUrl(url)) return malformedUrl(url)
  const body = JSON.stringify({ query: documentText(document), variables })
  const own = { 'content-type': 'application/json', accept: 'application/json' }
  const headers = { ...own, ...(await headersOf(options, signal)) }
  try {
    const init = { method: 'POST', headers, body, signal: signal ?? null }
    const response = await fetch(endpointOf(url), init)
    const missing = { code: `HTTP_${response.status}`, message: response.statusText }
    const answer = parseAnswer<Data>(await response.text(), missing)
    const retryAfterMs = retryAfterOf(response)
    if (answer.ok || retryAfterMs === 0) return answer
    return { ok: false, failure: { ...answer.failure, retryAfterMs } }
  } catch (error) {
    if (signal?.aborted) throw error
    return failed('OFFLINE', '')
  }
}

/**
 * The additional headers of a request. Rejects if `headers` throws or returns what no request can have, and when the signal aborts,
 * although `headers` may never settle.
 */
export function headersOf(
  { headers }: Pick<GatewayOptions, 'headers'>,
  signal: AbortSignal | undefined,
): Promise<Record<string, string>> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal?.reason)
    signal?.addEventListener('abort', abort)
    if (signal?.aborted) abort()
    const given = async () => {
      const own = (await headers?.()) ?? {}
      // Throws for a name or a value that no header may have. `fetch` would throw the same as for an unreachable server.
      void new Headers(own)
      return own
    }
    given()
      .finally(() => signal?.removeEventListener('abort', abort))
      .then(resolve, reject)
  })
}

/** Whether `fetch` accepts the URL. In a browser a URL without a host is relative to the page. */
export function isGatewayUrl(url: string): boolean {
  // With the path of the endpoint, `fetch` takes the path for the host of `http:`, and a query string of the URL for the end of the path.
  if (/[?#]|^https?:(?!\/\/[^/])/i.test(url)) return false
  try {
    return /^https?:/.test(new Request(endpointOf(url)).url)
  } catch {
    return false
  }
}

/** The answer for a URL that `fetch` does not accept. */
export function malformedUrl(url: string) {
  return failed('URL_MALFORMED', `url: expected http(s)://HOST[:PORT][/PATH], not ${url}`)
}

/** The URL of the GraphQL endpoint. */
export function endpointOf(url: string): string {
  return `${url.replace(/\/$/, '')}/graphql`
}

/** Parses a response body. If it is not JSON, such as the error page of a proxy, the failure is `missing`. */
export function parseAnswer<Data>(
  body: string,
  missing: Pick<Failure, 'code' | 'message'>,
): Answer<Data> {
  try {
    return answerOf(JSON.parse(body), missing)
  } catch {
    return failed(missing.code, missing.message)
  }
}

/** Converts a GraphQL result. Errors without a code, and a result without data and errors, get the code of `missing`. */
export function answerOf<Data>(
  { data, errors = [] }: GraphqlResult<Data>,
  missing: Pick<Failure, 'code' | 'message'>,
): Answer<Data> {
  const failures = errors.map(({ message, path = [], extensions }) => ({
    code: extensions?.code ?? missing.code,
    message,
    path,
  }))
  if (data != null) return { ok: true, data, failures }
  const [failure = { ...missing, path: [] }] = failures
  return { ok: false, failure }
}

/** Creates an answer without data. */
export function failed(
  code: string,
  message: string,
): { readonly ok: false; readonly failure: Failure } {
  return { ok: false, failure: { code, message, path: [] } }
}

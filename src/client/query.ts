import { documentText, type TypedDocument } from './documents.ts'

/** Asks a gateway: one request for one document. */

/** Which gateway, and how it is spoken to. */
export interface GatewayOptions {
  /** The root of the gateway, such as `http://localhost:4000`. */
  readonly url: string
  /** More headers, such as `authorization`; called for every connection. */
  readonly headers?: () => Record<string, string> | Promise<Record<string, string>>
  /** Ends the request or the feed. */
  readonly signal?: AbortSignal | undefined
}

/** A document of the caller with its variables, which may be left out where none is required. */
export type DocumentOptions<Data, Variables, Given = Variables> = {
  readonly document: TypedDocument<Data, Variables>
} & (Record<never, never> extends Variables
  ? { readonly variables?: Given }
  : { readonly variables: Given })

/** Why there is no answer, or a part of one. */
export interface Failure {
  /** A code of the gateway's `ErrorCode`, `OFFLINE` without any answer, or `HTTP_` and a status. */
  readonly code: string
  readonly message: string
  /** The field that is missing for it; empty for all. */
  readonly path: readonly (string | number)[]
}

/** An answer: its data, which may lack fields that failed. */
export type Answer<Data> =
  | { readonly ok: true; readonly data: Data; readonly failures: readonly Failure[] }
  | { readonly ok: false; readonly failure: Failure }

/** A result of GraphQL as it comes over the wire. */
export interface GraphqlResult<Data> {
  readonly data?: Data | null
  readonly errors?: readonly {
    readonly message: string
    readonly path?: readonly (string | number)[]
    readonly extensions?: { readonly code?: string }
  }[]
}

/** Sends a query or a mutation. Throws only what the signal and `headers` throw. */
export async function query<Data = unknown, Variables = unknown>(
  options: GatewayOptions & DocumentOptions<Data, Variables>,
): Promise<Answer<Data>> {
  const { url, document, variables, signal } = options
  const body = JSON.stringify({ query: documentText(document), variables })
  const own = { 'content-type': 'application/json', accept: 'application/json' }
  const headers = { ...own, ...(await options.headers?.()) }
  try {
    const init = { method: 'POST', headers, body, signal: signal ?? null }
    const response = await fetch(endpointOf(url), init)
    const missing = { code: `HTTP_${response.status}`, message: response.statusText }
    return answerIn(await response.text(), missing)
  } catch (error) {
    if (signal?.aborted) throw error
    return refused('OFFLINE', '')
  }
}

/** The address that documents are sent to. */
export function endpointOf(url: string): string {
  return `${url.replace(/\/$/, '')}/graphql`
}

/** The answer that a body holds; a proxy may send a page instead, which says what `missing` says. */
export function answerIn<Data>(
  body: string,
  missing: Pick<Failure, 'code' | 'message'>,
): Answer<Data> {
  try {
    return answerOf(JSON.parse(body), missing)
  } catch {
    return refused(missing.code, missing.message)
  }
}

/** What a result says; errors without a code of their own, and a result without anything, have that of `missing`. */
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

/** No answer at all. */
export function refused(
  code: string,
  message: string,
): { readonly ok: false; readonly failure: Failure } {
  return { ok: false, failure: { code, message, path: [] } }
}

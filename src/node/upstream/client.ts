import { joinSignals } from '../../lib/join-signals.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { carriedTrace, inSpan } from '../../lib/tracing.ts'

/** Sends one request to a node. The request has deadlines and a size limit, whatever the node does. */

export interface NodeRequest {
  readonly method: 'GET' | 'POST'
  /** The path after the address of the node, with its query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array<ArrayBuffer>
  /** Milliseconds from the beginning of the request to the end of the response, and again for each whole MiB of a long response. */
  readonly timeoutMs: number
  /** Maximum size of the response, in bytes. */
  readonly limit: number
}

/** A response with any status. */
export interface NodeResponse {
  readonly status: number
  readonly body: Uint8Array
  /** Seconds to wait before the next request, as the node demands; `undefined` if it does not, or names a date. */
  readonly retryAfterSeconds: number | undefined
}

/** No response, an incomplete one at the deadline, or one that is too long. `reason` is for the log. */
export interface NodeSilent {
  readonly code: 'NODE_SILENT'
  readonly reason: string
}

/** Sends one request. Redirects are not followed. `signal` aborts the request. */
export async function sendRequest(
  url: string,
  request: NodeRequest,
  signal: AbortSignal,
): Promise<Result<NodeResponse, NodeSilent>> {
  const { method, path, headers, body, timeoutMs, limit } = request
  const { joined, leave } = joinSignals(signal)
  let isLate = false
  const deadline = setTimeout(() => {
    isLate = true
    leave()
  }, timeoutMs)
  try {
    const send = () =>
      fetch(url + path, {
        method,
        // Read within the span of the request, so that the node continues the trace.
        headers: { ...headers, ...carriedTrace() },
        ...(body === undefined ? {} : { body }),
        redirect: 'manual',
        signal: joined,
      })
    // A node may close an idle connection at the moment at which it is used again, and that does not mean that it is away.
    const sendTwice = () =>
      send().catch((failure: unknown) => {
        if (method !== 'GET' || joined.aborted) throw failure
        return send()
      })
    const traced = { kind: 'client', isInner: true } as const
    const response = await inSpan(`upstream ${method}`, sendTwice, traced)
    const bytes = await readUpTo(response, limit, () => deadline.refresh())
    if (bytes === undefined) return silent(`the answer is longer than ${limit} bytes`)
    const { status, headers: answered } = response
    return ok({ status, body: bytes, retryAfterSeconds: wholeNumber(answered.get('retry-after')) })
  } catch (failure) {
    return silent(isLate ? `no answer within ${timeoutMs} ms` : reasonOf(failure))
  } finally {
    clearTimeout(deadline)
    leave()
  }
}

/** Reads a body up to a limit. Counts the received bytes, because the declared length is not trustworthy. Calls `onMebibyte` for each MiB. */
async function readUpTo(
  response: Response,
  limit: number,
  onMebibyte: () => void,
): Promise<Uint8Array | undefined> {
  if (response.body === null) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let size = 0
  // Leaving the loop early cancels the body, and with it the connection.
  for await (const chunk of response.body) {
    if ((size + chunk.length) >> 20 > size >> 20) onMebibyte()
    size += chunk.length
    if (size > limit) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, size)
}

function wholeNumber(text: string | null): number | undefined {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : undefined
}

function silent(reason: string): Result<never, NodeSilent> {
  return err({ code: 'NODE_SILENT', reason })
}

/** The message of the innermost cause: the error that `fetch` throws is generic, and its cause names the connection failure. */
function reasonOf(failure: unknown): string {
  if (!(failure instanceof Error)) return String(failure)
  return failure.cause === undefined ? failure.message : reasonOf(failure.cause)
}

import { joinSignals } from '../../lib/join-signals.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { carriedTrace, inSpan } from '../../lib/tracing.ts'

/** One request to a node. Whatever the node does, the request ends in time and takes bounded memory. */

/** A request. */
export interface NodeRequest {
  readonly method: 'GET' | 'POST'
  /** The path after the address of the node, with its query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array<ArrayBuffer>
  /** From the beginning of the request to the end of the answer. */
  readonly timeoutMs: number
  /** The longest answer that is read, in bytes. */
  readonly limit: number
}

/** An answer, whatever it says. */
export interface NodeAnswer {
  readonly status: number
  readonly body: Uint8Array
}

/** There was no answer, or not all of it in time, or it was too long; `reason` is for the log. */
export interface NodeSilent {
  readonly code: 'NODE_SILENT'
  readonly reason: string
}

/** Sends one request; redirections are not followed. The signal ends it before its time. */
export async function sendRequest(
  url: string,
  request: NodeRequest,
  signal: AbortSignal,
): Promise<Result<NodeAnswer, NodeSilent>> {
  const { method, path, headers, body, timeoutMs, limit } = request
  const { joined, leave } = joinSignals(signal)
  let isLate = false
  const deadline = setTimeout(() => {
    isLate = true
    leave()
  }, timeoutMs)
  try {
    const ask = () =>
      fetch(url + path, {
        method,
        // Within the span of the request, so that the node goes on with it.
        headers: { ...headers, ...carriedTrace() },
        ...(body === undefined ? {} : { body }),
        redirect: 'manual',
        signal: joined,
      })
    const response = await inSpan(`upstream ${method}`, ask, { kind: 'client', isInner: true })
    const bytes = await readUpTo(response, limit)
    if (bytes === undefined) return silent(`the answer is longer than ${limit} bytes`)
    return ok({ status: response.status, body: bytes })
  } catch (failure) {
    return silent(isLate ? `no answer within ${timeoutMs} ms` : reasonOf(failure))
  } finally {
    clearTimeout(deadline)
    leave()
  }
}

/** The length that an answer claims is not believed: what comes is counted. */
async function readUpTo(response: Response, limit: number): Promise<Uint8Array | undefined> {
  if (response.body === null) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let size = 0
  // Leaving the loop early cancels the body, and with it the connection.
  for await (const chunk of response.body) {
    size += chunk.length
    if (size > limit) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, size)
}

function silent(reason: string): Result<never, NodeSilent> {
  return err({ code: 'NODE_SILENT', reason })
}

/** The error that `fetch` throws says little; its cause names the failure of the connection. */
function reasonOf(failure: unknown): string {
  if (!(failure instanceof Error)) return String(failure)
  return failure.cause === undefined ? failure.message : reasonOf(failure.cause)
}

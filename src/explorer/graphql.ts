import { type Answer, failed, query } from '../client/query.ts'
import { root } from './base.ts'
import { isRefused, refusedCodes } from './build.ts'

/** Sends one GraphQL document to the gateway in one request. */

export { type Answer, type Failure, failed } from '../client/query.ts'

/** The result of a request that got no answer. */
export const offline = failed('OFFLINE', '')

/** A generated document with typed data and variables. */
export interface TypedDocument<Data, Variables> {
  readonly text: string
  readonly types?: (variables: Variables) => Data
}

export const endpoint = new URL('graphql', root)

/** Milliseconds after which a request without an answer has failed: six times the time that the gateway takes for a query. */
const requestTimeoutMs = 60_000

/** Sends a document. Rejects only when the signal aborts. */
export async function sendDocument<Data, Variables>(
  { text: document }: TypedDocument<Data, Variables>,
  variables: Variables,
  signal?: AbortSignal,
): Promise<Answer<Data>> {
  const ending = new AbortController()
  const end = () => ending.abort()
  const timer = setTimeout(end, requestTimeoutMs)
  signal?.addEventListener('abort', end)
  if (signal?.aborted) end()
  try {
    const answer = await query<Data>({ url: root.href, document, variables, signal: ending.signal })
    if (!answer.ok && refusedCodes.has(answer.failure.code)) isRefused.value = true
    return answer
  } catch (failure) {
    if (signal?.aborted) throw failure
    return offline
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
  }
}

/** The result of a field of an answer, or why it is null. */
export function fieldOf<Data, Field extends keyof Data>(
  answer: Answer<Data>,
  field: Field,
): { readonly ok: true; readonly value: NonNullable<Data[Field]> } | ReturnType<typeof failed> {
  if (!answer.ok) return answer
  const value = answer.data[field]
  if (value !== null && value !== undefined) return { ok: true, value }
  const [failure] = answer.failures
  return failure === undefined ? failed('INTERNAL', '') : { ok: false, failure }
}

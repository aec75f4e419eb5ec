import { root } from './base.ts'

/** Asks the gateway: one request for one document. */

/** A generated document, which knows the type of its answer. */
export interface TypedDocument<Data, Variables> {
  readonly text: string
  readonly types?: (variables: Variables) => Data
}

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

interface ResponseBody<Data> {
  readonly data?: Data | null
  readonly errors?: readonly {
    readonly message: string
    readonly path?: readonly (string | number)[]
    readonly extensions?: { readonly code?: string }
  }[]
}

/** The address that documents are sent to. */
export const endpoint = new URL('graphql', root)

/** Sends a document. Throws only what the signal throws. */
export async function ask<Data, Variables>(
  { text }: TypedDocument<Data, Variables>,
  variables: Variables,
  signal?: AbortSignal,
): Promise<Answer<Data>> {
  let response: Response
  let body: ResponseBody<Data>
  try {
    response = await fetch(endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ query: text, variables }),
      signal: signal ?? null,
    })
    body = await response.json()
  } catch (error) {
    if (signal?.aborted) throw error
    return refused('OFFLINE', '')
  }
  const failures = (body.errors ?? []).map(({ message, path = [], extensions }) => ({
    code: extensions?.code ?? `HTTP_${response.status}`,
    message,
    path,
  }))
  if (body.data != null) return { ok: true, data: body.data, failures }
  const [failure] = failures
  if (failure !== undefined) return { ok: false, failure }
  return refused(`HTTP_${response.status}`, response.statusText)
}

function refused(code: string, message: string): { readonly ok: false; readonly failure: Failure } {
  return { ok: false, failure: { code, message, path: [] } }
}

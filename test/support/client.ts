import { type Client, createClient } from 'graphql-ws'
import { WebSocket } from 'ws'

/** Asking a running gateway, as a client would. */

/** An answer of GraphQL, as it came. */
export interface GraphqlAnswer {
  // biome-ignore lint/suspicious/noExplicitAny: the test says what it expects of it
  readonly data?: any
  readonly errors?: readonly GraphqlAnswerError[]
}

/** One error of an answer. */
export interface GraphqlAnswerError {
  readonly message: string
  readonly path?: readonly (string | number)[]
  readonly extensions: { readonly code: string; readonly [name: string]: unknown }
}

/** Asks by HTTP. */
export async function graphql(
  url: string,
  query: string,
  variables: object = {},
  headers: Record<string, string> = {},
): Promise<GraphqlAnswer> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query, variables }),
  })
  return response.json()
}

/** A client of the WebSocket door that does not connect again by itself. */
export function socketClient(url: string, connectionParams: Record<string, unknown> = {}): Client {
  return createClient({
    url: `${url.replace(/^http/, 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    connectionParams,
  })
}

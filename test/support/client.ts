import { type Client, createClient } from 'graphql-ws'
import { WebSocket } from 'ws'

/** Sends GraphQL requests to a running gateway, as a client does. */

/** A GraphQL response. */
export interface GraphqlAnswer {
  // biome-ignore lint/suspicious/noExplicitAny: the test knows the shape
  readonly data?: any
  readonly errors?: readonly GraphqlAnswerError[]
}

/** An error of a GraphQL response. */
export interface GraphqlAnswerError {
  readonly message: string
  readonly path?: readonly (string | number)[]
  readonly extensions: { readonly code: string; readonly [name: string]: unknown }
}

/** Sends a GraphQL request over HTTP and returns the response. */
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

/** A WebSocket client that does not reconnect. */
export function socketClient(url: string, connectionParams: Record<string, unknown> = {}): Client {
  return createClient({
    url: `${url.replace(/^http/, 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    connectionParams,
  })
}

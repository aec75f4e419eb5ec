import { createClient } from 'graphql-ws/client'
import { WebSocket } from 'ws'
import { assert } from '../lib/assert.ts'

/** A small client of a running gateway, for the commands that use one. */

export interface GatewayClient {
  readonly url: string
  /** Sends a GraphQL operation; throws if the response contains an error. */
  query(document: string, variables: object): Promise<Readonly<Record<string, unknown>>>
  /** Follows a subscription until it ends or the consumer stops. */
  follow(document: string, variables: Readonly<Record<string, unknown>>): AsyncIterable<unknown>
  /** Sends a REST request; throws the message of the body if the status is an error. */
  get(path: string): Promise<Readonly<Record<string, unknown>>>
  /** Reads the health of the gateway, also if it is not healthy; throws the message of a gateway that refuses the request. */
  health(): Promise<Readonly<Record<string, unknown>>>
  /** Posts JSON to a REST route. */
  post(path: string, body: unknown): Promise<Readonly<Record<string, unknown>>>
  close(): Promise<void>
}

export interface GatewayClientOptions {
  /** Token that is sent with every POST request. */
  readonly token?: string | undefined
  /** Ends the requests that wait for a response; they throw. */
  readonly signal?: AbortSignal
}

/** Creates a client for the URL of a gateway. */
export function createGatewayClient(
  address: string,
  { token, signal }: GatewayClientOptions = {},
): GatewayClient {
  const url = address.replace(/\/$/, '')
  const socket = createClient({
    url: `${url.replace(/^http/, 'ws')}/graphql`,
    webSocketImpl: WebSocket,
  })

  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const ending = signal === undefined ? {} : { signal }

  function posting(body: unknown): RequestInit {
    const headers = { 'content-type': 'application/json', ...authorization }
    return { method: 'POST', headers, body: JSON.stringify(body), ...ending }
  }

  async function query(document: string, variables: object) {
    const request = posting({ query: document, variables })
    const { isOk, status, body } = await fetchBody(`${url}/graphql`, request)
    const { errors, data } = body
    if (Array.isArray(errors)) throw new Error(refusalText(members(errors[0])))
    if (typeof data !== 'object') throw new Error(isOk ? notGateway : refusalOf(status, body))
    return members(data)
  }

  return {
    url,
    query,
    follow: (document, variables) => socket.iterate({ query: document, variables }),
    get: (path) => fetchJson(`${url}${path}`, ending),
    health: async () => {
      const { isOk, status, body } = await fetchBody(`${url}/health/ready`, ending)
      if ('isHealthy' in body) return body
      // An overloaded gateway refuses the request. A body without both members is not from a gateway.
      throw new Error(isOk ? notGateway : refusalOf(status, body))
    },
    post: (path, body) => fetchJson(`${url}${path}`, posting(body)),
    close: async () => socket.dispose(),
  }
}

/** Reads an object of a response. A missing object is a bug of the gateway. */
export function members(value: unknown): Readonly<Record<string, unknown>> {
  assert(typeof value === 'object' && value !== null, 'the gateway returns an object')
  return { ...value }
}

/** Formats a GraphQL error: its code, its path in the request if it has one, and its message. */
export function refusalText({ message, extensions }: Readonly<Record<string, unknown>>): string {
  const { code, path } = members(extensions ?? {})
  const place = typeof path === 'string' ? ` at ${path}` : ''
  return code === undefined ? String(message) : `${code}${place}: ${message}`
}

async function fetchJson(url: string, init: RequestInit) {
  const { isOk, status, body } = await fetchBody(url, init)
  if (isOk) return body
  throw new Error(refusalOf(status, body))
}

/** The message of a response with an error status. */
function refusalOf(status: number, body: Readonly<Record<string, unknown>>): string {
  const { error } = body
  const message = typeof error === 'object' && error !== null && 'message' in error && error.message
  return typeof message === 'string' ? message : `status ${status}`
}

/** The message for a server that responds with something else than a gateway. */
export const notGateway = 'the server is not a gateway'

async function fetchBody(url: string, init: RequestInit) {
  const fail = (message: string, cause: unknown) => {
    throw new Error(init.signal?.aborted === true ? 'interrupted' : message, { cause })
  }
  const response = await fetch(url, init).catch((cause: unknown) =>
    fail(`no server is reachable${reasonOf(cause)}; is the gateway running?`, cause),
  )
  const json: unknown = await response.json().catch((cause: unknown) => fail(notGateway, cause))
  if (typeof json !== 'object' || json === null) throw new Error(notGateway)
  return { isOk: response.ok, status: response.status, body: members(json) }
}

/** The system error code, such as `ECONNREFUSED`, if there is one. */
function reasonOf(failure: unknown): string {
  const cause = failure instanceof Error ? failure.cause : undefined
  return cause instanceof Error && 'code' in cause ? ` (${cause.code})` : ''
}

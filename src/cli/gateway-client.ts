import { createClient } from 'graphql-ws/client'
import { WebSocket } from 'ws'
import { assert } from '../lib/assert.ts'

/** A small client of a running gateway, for the commands that use one. */

/** A gateway by its URL. */
export interface GatewayClient {
  readonly url: string
  /** Asks GraphQL; an error in the answer is thrown. */
  query(document: string, variables: object): Promise<Readonly<Record<string, unknown>>>
  /** Follows a subscription until it ends or the consumer stops. */
  follow(document: string, variables: Readonly<Record<string, unknown>>): AsyncIterable<unknown>
  /** Asks REST; an error status is thrown with the message of the body. */
  get(path: string): Promise<Readonly<Record<string, unknown>>>
  /** Whether the gateway can do its work: the same of an answer that says that it cannot. */
  health(): Promise<Readonly<Record<string, unknown>>>
  /** Posts JSON to REST. */
  post(path: string, body: unknown): Promise<Readonly<Record<string, unknown>>>
  close(): Promise<void>
}

/** Talks to the gateway at a URL without a slash at its end; a token goes with every request that posts. */
export function createGatewayClient(url: string, token?: string): GatewayClient {
  const socket = createClient({
    url: `${url.replace(/^http/, 'ws')}/graphql`,
    webSocketImpl: WebSocket,
  })

  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }

  function posting(body: unknown): RequestInit {
    const headers = { 'content-type': 'application/json', ...authorization }
    return { method: 'POST', headers, body: JSON.stringify(body) }
  }

  async function query(document: string, variables: object) {
    const { body } = await fetchBody(`${url}/graphql`, posting({ query: document, variables }))
    if (Array.isArray(body.errors)) throw new Error(refusalText(members(body.errors[0])))
    return members(body.data)
  }

  return {
    url,
    query,
    follow: (document, variables) => socket.iterate({ query: document, variables }),
    get: (path) => fetchJson(`${url}${path}`, {}),
    health: async () => {
      const { body } = await fetchBody(`${url}/health/ready`, {})
      // What has no such member is no gateway.
      assert('isHealthy' in body, 'what answers there is a gateway')
      return body
    },
    post: (path, body) => fetchJson(`${url}${path}`, posting(body)),
    close: async () => socket.dispose(),
  }
}

/** An object of an answer; what an answer must have and has not is a failure of the gateway. */
export function members(value: unknown): Readonly<Record<string, unknown>> {
  assert(typeof value === 'object' && value !== null, 'the gateway answers with an object')
  return { ...value }
}

/** Of an error of GraphQL: its code, the place in the request where it has one, and the sentence. */
export function refusalText({ message, extensions }: Readonly<Record<string, unknown>>): string {
  const { code, path } = members(extensions ?? {})
  const place = typeof path === 'string' ? ` at ${path}` : ''
  return code === undefined ? String(message) : `${code}${place}: ${message}`
}

async function fetchJson(url: string, init: RequestInit) {
  const { isOk, status, body } = await fetchBody(url, init)
  if (isOk) return body
  throw new Error(String(members(body.error ?? {}).message ?? `status ${status}`))
}

async function fetchBody(url: string, init: RequestInit) {
  const response = await fetch(url, init).catch((cause: unknown) => {
    throw new Error(`no server answers there${reasonOf(cause)}; is the gateway running?`, { cause })
  })
  const json: unknown = await response.json().catch((cause: unknown) => {
    throw new Error('what answers there is no gateway', { cause })
  })
  return { isOk: response.ok, status: response.status, body: members(json) }
}

/** The system's name for it, such as `ECONNREFUSED`, where it has one. */
function reasonOf(failure: unknown): string {
  const cause = failure instanceof Error ? failure.cause : undefined
  return cause instanceof Error && 'code' in cause ? ` (${cause.code})` : ''
}

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { WebSocket } from 'ws'
import type { OwnClient, OwnInit } from './from-address.ts'

/** The attacked gateway, and the functions that attacks use. */

/** A gateway under attack. */
export interface Target {
  readonly url: string
  /** The factor of the number of requests; 1 in the long form. */
  readonly scale: number
  /** A token that allows setting chain records. */
  readonly token: string
  /** A block with a wrong signature, as JSON. */
  readonly wrongBlock: object
  /** A block with a payload of 8,000 bytes, as hexadecimal text. */
  readonly largeBlock: string
  /** The attacker. */
  readonly client: OwnClient
  /** Registers a function that closes something when the attack ends. */
  onEnd(close: () => void): void
}

/** One kind of attack. */
export interface Attack {
  readonly name: string
  /** Makes one round and returns the results: codes, statuses or `ok`. Opened connections stay open until the end. */
  readonly round: (target: Target) => Promise<readonly string[]>
  /** At least one of these must be among the results. */
  readonly expected: readonly string[]
}

/** Multiplies a count by the scale of the attack. The result is at least 2. */
export function scaled(target: Target, count: number): number {
  return Math.max(2, Math.round(count * target.scale))
}

/** Starts a number of calls concurrently. */
export function concurrently<T>(
  count: number,
  work: (i: number) => Promise<T>,
): Promise<readonly T[]> {
  return Promise.all(Array.from({ length: count }, (_, i) => work(i)))
}

/** Sends a request, reads the whole response, and returns its error code, or its status if it has none. */
export async function send(
  { url, client }: Target,
  path: string,
  init: OwnInit = {},
): Promise<string> {
  try {
    const { status, text } = await client.ask(url + path, init)
    const [, code] = /"code":"([A-Z_]+)"/.exec(text) ?? []
    return code ?? (init.stream !== undefined && status === 200 ? 'ok' : String(status))
  } catch (error) {
    const { code, name } = Object(error)
    return name === 'AbortError' || name === 'TimeoutError' ? name : (code ?? 'failed')
  }
}

/** Sends a GraphQL request by POST. */
export function sendGraphql(
  target: Target,
  query: string,
  { variables = {}, accept = '*/*', ...init }: GraphqlOptions = {},
): Promise<string> {
  const headers = { accept, 'content-type': 'application/json' }
  const body = JSON.stringify({ query, variables })
  return send(target, '/graphql', { method: 'POST', headers, body, ...init })
}

interface GraphqlOptions {
  readonly variables?: object
  readonly accept?: string
  readonly signal?: AbortSignal
}

/** Opens a GraphQL event stream, which stays open. Returns `ok` after its first event, or the error code. */
export function openEventStream(target: Target, query: string): Promise<string> {
  const headers = { accept: 'text/event-stream' }
  return send(target, `/graphql?${new URLSearchParams({ query })}`, { headers, stream: 'open' })
}

/** Opens a connection, sends a text, and reads nothing. */
export async function sendUnread(target: Target, text: string): Promise<Socket | undefined> {
  const { hostname, port } = new URL(target.url)
  const { localAddress } = target.client
  const socket = connect({ host: hostname, port: Number(port), localAddress })
  target.onEnd(() => socket.destroy())
  socket.on('error', () => {})
  socket.pause()
  await Promise.race([once(socket, 'connect'), once(socket, 'close')]).catch(() => {})
  if (socket.destroyed) return undefined
  socket.write(text)
  return socket
}

/** Returns the head and the body of a GraphQL request by POST. */
export function graphqlRequest(query: string): string {
  const body = JSON.stringify({ query, variables: {} })
  const head = ['POST /graphql HTTP/1.1', 'Host: x', 'Content-Type: application/json']
  return [...head, `Content-Length: ${Buffer.byteLength(body)}`, '', body].join('\r\n')
}

/** Opens a WebSocket. Returns `undefined` if it is refused. */
export async function openSocket(
  target: Target,
  { path = '/graphql', protocol = 'graphql-transport-ws' } = {},
): Promise<WebSocket | undefined> {
  const socket = new WebSocket(target.url.replace('http', 'ws') + path, protocol, {
    perMessageDeflate: false,
    localAddress: target.client.localAddress,
  })
  // Each pending operation adds a listener.
  socket.setMaxListeners(0)
  target.onEnd(() => socket.terminate())
  socket.on('error', () => {})
  await Promise.race([once(socket, 'open'), once(socket, 'close')]).catch(() => {})
  return socket.readyState === socket.OPEN ? socket : undefined
}

/** Opens a GraphQL WebSocket and waits until the gateway acknowledges it. Returns `undefined` if it is refused. */
export async function openGraphqlSocket(
  target: Target,
  payload: object = {},
): Promise<WebSocket | undefined> {
  const socket = await openSocket(target)
  if (socket === undefined) return undefined
  const message = nextText(socket)
  socket.send(JSON.stringify({ type: 'connection_init', payload }))
  return (await message).includes('connection_ack') ? socket : undefined
}

/** Returns the next message of a socket, or its close code and reason. */
export function nextText(socket: WebSocket): Promise<string> {
  return new Promise((resolve) => {
    socket.once('message', (bytes) => resolve(String(bytes)))
    socket.once('close', (code, reason) => resolve(`closed ${code} ${reason}`))
  })
}

/** Starts an operation on a socket. Returns `ok` after its first result, or the error code. */
export async function sendBySocket(
  socket: WebSocket | undefined,
  id: string,
  query: string,
  variables: object = {},
): Promise<string> {
  if (socket === undefined) return 'refused'
  const result = new Promise<string>((resolve) => {
    const onMessage = (bytes: unknown) => {
      const text = String(bytes)
      if (!text.includes(`"id":"${id}"`)) return
      socket.off('message', onMessage)
      resolve(/"code":"([A-Z_]+)"/.exec(text)?.[1] ?? 'ok')
    }
    socket.on('message', onMessage)
    socket.once('close', (code) => resolve(`closed ${code}`))
  })
  socket.send(JSON.stringify({ type: 'subscribe', id, payload: { query, variables } }))
  return result
}

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { WebSocket } from 'ws'
import type { OwnClient, OwnInit } from './from-address.ts'

/** What is attacked, and the means of attackers. */

/** A gateway under attack. */
export interface Target {
  readonly url: string
  /** How much of an attack is made: 1 in the long form. */
  readonly scale: number
  /** A token that may set chain records. */
  readonly token: string
  /** A signed block whose signature is wrong, as JSON. */
  readonly wrongBlock: object
  /** The largest block there is, as hexadecimal text. */
  readonly largeBlock: string
  /** The attacker. */
  readonly client: OwnClient
  /** Notes how something that stays open is closed when the attack ends. */
  onEnd(close: () => void): void
}

/** One kind of attack. */
export interface Attack {
  readonly name: string
  /** Makes it once and gives what was answered: codes, statuses, or `ok`. What it opens stays open until the end. */
  readonly round: (target: Target) => Promise<readonly string[]>
  /** One of these must be among the answers. */
  readonly expected: readonly string[]
}

/** How many, by the scale of the attack. */
export function many(target: Target, count: number): number {
  return Math.max(2, Math.round(count * target.scale))
}

/** Does something so many times at once. */
export function atOnce<T>(count: number, work: (i: number) => Promise<T>): Promise<readonly T[]> {
  return Promise.all(Array.from({ length: count }, (_, i) => work(i)))
}

/** Asks and reads the whole answer; its code where it has one, else its status. */
export async function ask(
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

/** Asks GraphQL by POST. */
export function askGraphql(
  target: Target,
  query: string,
  { variables = {}, accept = '*/*', ...init }: GraphqlOptions = {},
): Promise<string> {
  const headers = { accept, 'content-type': 'application/json' }
  const body = JSON.stringify({ query, variables })
  return ask(target, '/graphql', { method: 'POST', headers, body, ...init })
}

interface GraphqlOptions {
  readonly variables?: object
  readonly accept?: string
  readonly signal?: AbortSignal
}

/** Asks GraphQL for an event stream, which stays open; `ok` with its first event, or the refusal. */
export function askStream(target: Target, query: string): Promise<string> {
  const headers = { accept: 'text/event-stream' }
  return ask(target, `/graphql?${new URLSearchParams({ query })}`, { headers, stream: 'open' })
}

/** Sends bytes on a connection of its own, which reads nothing. */
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

/** The head and body of a POST to GraphQL. */
export function graphqlRequest(query: string, variables: object = {}): string {
  const body = JSON.stringify({ query, variables })
  const head = ['POST /graphql HTTP/1.1', 'Host: x', 'Content-Type: application/json']
  return [...head, `Content-Length: ${Buffer.byteLength(body)}`, '', body].join('\r\n')
}

/** Opens a WebSocket; `undefined` where it is refused. */
export async function openSocket(
  target: Target,
  { path = '/graphql', protocol = 'graphql-transport-ws' } = {},
): Promise<WebSocket | undefined> {
  const socket = new WebSocket(target.url.replace('http', 'ws') + path, protocol, {
    perMessageDeflate: false,
    localAddress: target.client.localAddress,
  })
  // One for each operation that waits.
  socket.setMaxListeners(0)
  target.onEnd(() => socket.terminate())
  socket.on('error', () => {})
  await Promise.race([once(socket, 'open'), once(socket, 'close')]).catch(() => {})
  return socket.readyState === socket.OPEN ? socket : undefined
}

/** Opens a WebSocket and waits until it is acknowledged. */
export async function openGraphqlSocket(
  target: Target,
  payload: object = {},
): Promise<WebSocket | undefined> {
  const socket = await openSocket(target)
  if (socket === undefined) return undefined
  const heard = nextText(socket)
  socket.send(JSON.stringify({ type: 'connection_init', payload }))
  return (await heard).includes('connection_ack') ? socket : undefined
}

/** The next message of a socket; its reason where it is closed. */
export function nextText(socket: WebSocket): Promise<string> {
  return new Promise((resolve) => {
    socket.once('message', (bytes) => resolve(String(bytes)))
    socket.once('close', (code, reason) => resolve(`closed ${code} ${reason}`))
  })
}

/** Begins an operation on a socket; its code, or `ok` with its first result. */
export async function askSocket(
  socket: WebSocket | undefined,
  id: string,
  query: string,
): Promise<string> {
  if (socket === undefined) return 'refused'
  const answer = new Promise<string>((resolve) => {
    const hear = (bytes: unknown) => {
      const text = String(bytes)
      if (!text.includes(`"id":"${id}"`)) return
      socket.off('message', hear)
      resolve(/"code":"([A-Z_]+)"/.exec(text)?.[1] ?? 'ok')
    }
    socket.on('message', hear)
    socket.once('close', (code) => resolve(`closed ${code}`))
  })
  socket.send(JSON.stringify({ type: 'subscribe', id, payload: { query } }))
  return answer
}

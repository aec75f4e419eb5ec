import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'

/** Sends requests from a given local address, so that they count as another client. On Linux, all of 127.0.0.0/8 are local addresses. */

/** A response, read to its end, or only its first bytes if it is an event stream. */
export interface OwnResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** A client at an address of its own, with keep-alive connections. */
export interface OwnClient {
  readonly localAddress: string
  /** Sends a request and reads the response. */
  ask(url: string, init?: OwnInit): Promise<OwnResponse>
  /** Closes all its connections. */
  close(): void
}

/** The method, headers and body of a request. */
export interface OwnInit {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  readonly signal?: AbortSignal
  /** Reads only the first bytes of an event stream, which then is closed or stays open. */
  readonly stream?: 'closed' | 'open'
}

const attackers = '127.0.2.'

/** Returns the address of the `n`th attacker. */
export function attackerAddress(n: number): string {
  return attackers + n
}

/** Whether the other end of a connection is an attacker. */
export function isAttacker({ remoteAddress = '' }: Socket): boolean {
  return remoteAddress.startsWith(attackers)
}

/** The timeout of a request. */
const timeoutMs = 20_000

/** Creates the client of a local address. */
export function ownClient(localAddress: string): OwnClient {
  const agent = new Agent({ keepAlive: true })

  function ask(url: string, init: OwnInit = {}): Promise<OwnResponse> {
    const { method = 'GET', headers = {}, body, stream } = init
    // A stream that stays open has no timeout.
    const timeout = stream === 'open' ? [] : [AbortSignal.timeout(timeoutMs)]
    const signal = AbortSignal.any([...timeout, ...(init.signal ? [init.signal] : [])])
    return new Promise((resolve, reject) => {
      const sent = request(url, { method, headers, agent, localAddress, signal })
      sent.on('error', (error) => reject(signal.aborted ? signal.reason : error))
      sent.on('response', (response) => {
        const { statusCode: status = 0, headers } = response
        const isEndless = stream !== undefined && isEvents(response)
        const read = isEndless ? firstBytes(response) : text(response)
        read
          .then((bytes) => resolve({ status, headers, text: bytes }), reject)
          .finally(() => {
            if (isEndless && stream === 'closed') sent.destroy()
          })
      })
      sent.end(body)
    })
  }

  return { localAddress, ask, close: () => agent.destroy() }
}

function isEvents({ headers }: IncomingMessage): boolean {
  return (headers['content-type'] ?? '').startsWith('text/event-stream')
}

function firstBytes(response: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    // The client closes the stream itself, at once or when the attack ends.
    response.on('error', () => {})
    response.once('data', (bytes) => resolve(String(bytes)))
    response.once('end', () => resolve(''))
  })
}

import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'

/** Requests from an address of their own, as those of another client: Linux has all of 127.0.0.0/8 as local addresses. */

/** An answer, read to its end, or as far as was asked. */
export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** A client at an address of its own, which keeps its connections. */
export interface OwnClient {
  readonly localAddress: string
  /** Asks and reads the answer. */
  ask(url: string, init?: OwnInit): Promise<Answer>
  /** Closes all its connections. */
  close(): void
}

/** What it sends. */
export interface OwnInit {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  readonly signal?: AbortSignal
  /** For an answer without end: only its first bytes are read, and then it is left, or stays open. */
  readonly stream?: 'left' | 'open'
}

/** A request that takes longer has failed. */
const patienceMs = 20_000

/** The client of an address. */
export function ownClient(localAddress: string): OwnClient {
  const agent = new Agent({ keepAlive: true })

  function ask(url: string, init: OwnInit = {}): Promise<Answer> {
    const { method = 'GET', headers = {}, body, stream } = init
    // A stream that stays open outlives any patience.
    const patience = stream === 'open' ? [] : [AbortSignal.timeout(patienceMs)]
    const signal = AbortSignal.any([...patience, ...(init.signal ? [init.signal] : [])])
    return new Promise((resolve, reject) => {
      const asked = request(url, { method, headers, agent, localAddress, signal })
      asked.on('error', (error) => reject(signal.aborted ? signal.reason : error))
      asked.on('response', (response) => {
        const { statusCode: status = 0, headers } = response
        const isEndless = stream !== undefined && isEvents(response)
        const read = isEndless ? firstBytes(response) : text(response)
        read
          .then((bytes) => resolve({ status, headers, text: bytes }), reject)
          .finally(() => {
            if (isEndless && stream === 'left') asked.destroy()
          })
      })
      asked.end(body)
    })
  }

  return { localAddress, ask, close: () => agent.destroy() }
}

function isEvents({ headers }: IncomingMessage): boolean {
  return (headers['content-type'] ?? '').startsWith('text/event-stream')
}

function firstBytes(response: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    // Of a stream that is left, or cut when the attack ends.
    response.on('error', () => {})
    response.once('data', (bytes) => resolve(String(bytes)))
    response.once('end', () => resolve(''))
  })
}

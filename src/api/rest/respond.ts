import { hash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { afterTurns, turnOf } from '../../lib/turns.ts'
import type { RestResponse, RouteResponse, StreamedResponse } from './response.ts'

/** Sends answers: with an entity tag where they can be requested again, compressed where the client accepts it and it saves bytes. */

/**
 * Sends an answer, with the headers `common` to all that are not set on the response: Node sends those that come together, and
 * the answer has none else, in half the time. The server itself omits the body for HEAD.
 */
export function send(
  response: ServerResponse,
  answer: RouteResponse,
  common: RestResponse['headers'] = {},
): void {
  if ('stream' in answer) void sendStream(response, answer, common)
  else sendWhole(response, answer, common)
}

/** Makes no more than the client takes. What breaks off is cut, so that the client does not take it for the whole. */
async function sendStream(
  response: ServerResponse,
  { status, headers, stream: { pieces, signal, over } }: StreamedResponse,
  common: RestResponse['headers'],
): Promise<void> {
  response.writeHead(status, { ...common, ...headers, vary: varyOf(common, headers) })
  try {
    if (response.req.method === 'HEAD') response.end()
    else await pipeline(Readable.from(madeInTurns(response, pieces)), response, { signal })
  } catch {
    // The client left, or the gateway stops, or the making failed, which the router logs; the response is cut by now.
  } finally {
    await pieces.return(undefined)
    over()
  }
}

/** Each piece is made in a turn of the client. */
async function* madeInTurns<T>(
  response: ServerResponse,
  pieces: AsyncIterator<T>,
): AsyncGenerator<T> {
  const client = clientOf(response)
  for (;;) {
    await turnOf(client)
    const piece = await pieces.next()
    if (piece.done === true) return
    yield piece.value
  }
}

function sendWhole(
  response: ServerResponse,
  answer: RestResponse,
  common: RestResponse['headers'],
): void {
  const { req: request } = response
  const etag = tagFor(request, answer)
  const headers: RestResponse['headers'] = {
    ...common,
    ...answer.headers,
    vary: varyOf(common, answer.headers),
    ...(etag !== undefined && { etag }),
  }
  if (etag !== undefined && isKnown(request, etag)) {
    const { 'content-type': _, ...unchanged } = headers
    response.writeHead(304, unchanged)
    afterTurns(() => response.end())
    return
  }
  const coding = codingOf(request, answer)
  if (coding === undefined) sendBody(response, answer.status, headers, answer.body)
  else void sendCompressed(response, answer, headers, coding)
}

/** By which headers of a request an answer differs. */
function varyOf(...given: readonly RestResponse['headers'][]): string {
  const byOrigin = given.some(({ vary }) => vary === 'origin')
  return byOrigin ? 'accept, accept-encoding, origin' : 'accept, accept-encoding'
}

function sendBody(
  response: ServerResponse,
  status: number,
  headers: RestResponse['headers'],
  body: string | Uint8Array,
): void {
  const length = Buffer.byteLength(body)
  response.writeHead(status, { ...headers, 'content-length': length })
  // ASCII is the same in both encodings. For UTF-8 Node reserves three bytes a character, on the heap where these are many.
  const isAscii = typeof body === 'string' && length === body.length
  if (length > wholeBytes) {
    const isCut = typeof body === 'object' || isAscii
    void sendInPieces(response, isCut ? body : Buffer.from(body))
  } else {
    afterTurns(() => (isAscii ? response.end(body, 'latin1') : response.end(body)))
  }
}

/** Sends what the GraphQL server answered. */
export async function sendFetched(response: ServerResponse, answered: Response): Promise<void> {
  const body = await answered.text()
  if (response.destroyed) return
  const headers = Object.fromEntries(answered.headers)
  // It is sent whole, also where the server would have streamed it.
  delete headers['transfer-encoding']
  sendBody(response, answered.status, headers, body)
}

/** Has large answers to a request wait for the turns of a client, where that is not who connected. */
export function sendInTurnsOf(client: string, response: ServerResponse): void {
  if (client !== response.req.socket.remoteAddress) clients.set(response, client)
}

const clients = new WeakMap<ServerResponse, string>()

function clientOf(response: ServerResponse): string {
  return clients.get(response) ?? response.req.socket.remoteAddress ?? ''
}

/** A body of at most so many bytes is written to the socket at once. */
const wholeBytes = 262_144
const pieceBytes = 65_536

/** The send buffer of a socket takes some megabytes, also for a client that does not read: other clients have turns between the writes. */
async function sendInPieces(response: ServerResponse, body: Uint8Array | string): Promise<void> {
  const client = clientOf(response)
  for (let from = 0; from < body.length && !response.destroyed; from += pieceBytes) {
    await turnOf(client)
    const to = from + pieceBytes
    const isTaken =
      typeof body === 'string'
        ? response.write(body.slice(from, to), 'latin1')
        : response.write(body.subarray(from, to))
    if (!isTaken && !response.destroyed) await takenOrCut(response)
  }
  response.end()
}

function takenOrCut(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      response.off('drain', go).off('close', go)
      resolve()
    }
    response.on('drain', go).on('close', go)
  })
}

/** Compresses on another thread, for speed rather than size. */
async function sendCompressed(
  response: ServerResponse,
  { status, body, compressed: prepared }: RestResponse,
  headers: RestResponse['headers'],
  coding: Coding,
): Promise<void> {
  const compressed = prepared?.[coding] ?? (await codings[coding](body).catch(() => undefined))
  if (compressed === undefined) return sendBody(response, status, headers, body)
  sendBody(response, status, { ...headers, 'content-encoding': coding }, compressed)
}

const fastBrotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }

/** The codings of content, the better one first: as fast as the other, brotli saves some more. */
const codings = {
  br: (body: string | Uint8Array) => promisify(brotliCompress)(body, fastBrotli),
  gzip: (body: string | Uint8Array) => promisify(gzip)(body, { level: 1 }),
}

type Coding = keyof typeof codings

/** A weak tag, for it names the content whether it is compressed or not. */
export function tagOf(body: RestResponse['body']): string {
  return `W/"${hash('sha1', body, 'base64url')}"`
}

function tagFor({ method }: IncomingMessage, { status, headers, body }: RestResponse) {
  const isRead = method === 'GET' || method === 'HEAD'
  return isRead && status === 200 && headers.etag === undefined ? tagOf(body) : headers.etag
}

/** Tags are compared weakly: with or without `W/` they name the same content. */
function isKnown({ headers, method }: IncomingMessage, etag: string): boolean {
  const known = headers['if-none-match']
  if (known === undefined || (method !== 'GET' && method !== 'HEAD')) return false
  const bare = (tag: string) => tag.trim().replace(/^W\//, '')
  return known.trim() === '*' || known.split(',').some((tag) => bare(tag) === bare(etag))
}

/** Compression gains nothing within a single packet. */
const leastCompressed = 1_400

/** The coding that the client weighs most; `undefined` where it accepts none, or there is nothing to gain. */
function codingOf({ headers, method }: IncomingMessage, answer: RestResponse): Coding | undefined {
  if (method === 'HEAD' || answer.headers['content-encoding'] !== undefined) return undefined
  if (answer.body.length < leastCompressed) return undefined
  if (headers['accept-encoding'] === undefined) return undefined
  const weights = new Map<string, number>()
  for (const one of (headers['accept-encoding']?.toString() ?? '').toLowerCase().split(',')) {
    const [name = '', weight = 'q=1'] = one.split(';').map((part) => part.trim())
    weights.set(name, Number(weight.replace('q=', '')))
  }
  const weightOf = (coding: Coding) => weights.get(coding) ?? weights.get('*') ?? 0
  const coding = weightOf('gzip') > weightOf('br') ? 'gzip' : 'br'
  return weightOf(coding) > 0 ? coding : undefined
}

import { hash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { drainedOrClosed } from '../../lib/drained-or-closed.ts'
import { afterTurns, turnOf } from '../../lib/turns.ts'
import type { RestResponse, RouteResponse, StreamedResponse } from './response.ts'

/** Sends responses: with an entity tag for reads, and compressed if the client accepts it and it saves bytes. */

/**
 * Sends a response. The headers in `common` are passed instead of being set on the response, because Node sends headers that are
 * passed together, without any that were set before, in half the time. Node itself omits the body for HEAD.
 */
export function send(
  response: ServerResponse,
  answer: RouteResponse,
  common: RestResponse['headers'] = {},
): void {
  if ('stream' in answer) void sendStream(response, answer, common)
  else sendWhole(response, answer, common)
}

/** Sends a stream with backpressure. A failed stream is cut, so that the client does not mistake it for a complete one. */
async function sendStream(
  response: ServerResponse,
  { status, headers, stream: { pieces, signal, over } }: StreamedResponse,
  common: RestResponse['headers'],
): Promise<void> {
  response.writeHead(status, { ...common, ...headers, vary: varyOf(common, headers) })
  try {
    if (response.req.method === 'HEAD') response.end()
    else await pipeline(Readable.from(inTurnsOfClient(response, pieces)), response, { signal })
  } catch {
    // The client disconnected, the gateway stops, or a piece failed, which the router logs. The response is already cut.
  } finally {
    await pieces.return(undefined)
    over()
  }
}

/** Produces each piece in a turn of the client. */
async function* inTurnsOfClient<T>(
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
  else if (request.method === 'HEAD') {
    // The length of the response to GET is known only after it is compressed, and any other must not be sent (RFC 9110 8.6).
    response.writeHead(answer.status, { ...headers, 'content-encoding': coding })
    afterTurns(() => response.end())
  } else void sendCompressed(response, answer, headers, coding)
}

/** Returns the request headers on which a response depends. */
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
  // ASCII is equal in both encodings. For UTF-8, Node allocates three bytes per character, on the heap for long texts.
  const isAscii = typeof body === 'string' && length === body.length
  if (length > wholeBytes) {
    const isCut = typeof body === 'object' || isAscii
    void sendInPieces(response, isCut ? body : Buffer.from(body))
  } else {
    afterTurns(() => (isAscii ? response.end(body, 'latin1') : response.end(body)))
  }
}

export async function sendFetched(response: ServerResponse, answered: Response): Promise<void> {
  const body = await answered.text()
  if (response.destroyed) return
  // The response is sent as a whole, even if the server would stream it. Its headers keep the case in which it wrote them.
  const kept = [...answered.headers].filter(([name]) => name.toLowerCase() !== 'transfer-encoding')
  // The headers of every response are already set.
  const vary = varyOf({ vary: String(response.getHeader('vary')) })
  sendBody(response, answered.status, { ...Object.fromEntries(kept), vary }, body)
}

/** Makes large responses wait for turns of this client, if it is not the address of the connection. */
export function sendInTurnsOf(client: string, response: ServerResponse): void {
  if (client !== response.req.socket.remoteAddress) clients.set(response, client)
}

const clients = new WeakMap<ServerResponse, string>()

function clientOf(response: ServerResponse): string {
  return clients.get(response) ?? response.req.socket.remoteAddress ?? ''
}

/** Maximum size of a body that is written to the socket at once, in bytes. */
const wholeBytes = 262_144

/** Size of the pieces of larger bodies, in bytes. */
const pieceBytes = 65_536

/** Sends a large body in pieces. A socket accepts megabytes even if its client does not read, so other clients get turns in between. */
async function sendInPieces(response: ServerResponse, body: Uint8Array | string): Promise<void> {
  const client = clientOf(response)
  for (let from = 0; from < body.length && !response.destroyed; from += pieceBytes) {
    await turnOf(client)
    const to = from + pieceBytes
    const hasRoom =
      typeof body === 'string'
        ? response.write(body.slice(from, to), 'latin1')
        : response.write(body.subarray(from, to))
    if (!hasRoom && !response.destroyed) await drainedOrClosed(response)
  }
  response.end()
}

/** Compresses on another thread, optimised for speed rather than size. */
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

/** The content codings, the preferred one first: brotli is as fast as gzip and saves more. */
const codings = {
  br: (body: string | Uint8Array) => promisify(brotliCompress)(body, fastBrotli),
  gzip: (body: string | Uint8Array) => promisify(gzip)(body, { level: 1 }),
}

type Coding = keyof typeof codings

/** Creates a weak entity tag, because the tag is the same with and without compression. */
export function tagOf(body: RestResponse['body']): string {
  return `W/"${hash('sha1', body, 'base64url')}"`
}

function tagFor({ method }: IncomingMessage, { status, headers, body }: RestResponse) {
  const isRead = method === 'GET' || method === 'HEAD'
  return isRead && status === 200 && headers.etag === undefined ? tagOf(body) : headers.etag
}

/** Whether `If-None-Match` contains the tag, by weak comparison: `W/` is ignored. */
function isKnown({ headers, method }: IncomingMessage, etag: string): boolean {
  const known = headers['if-none-match']
  if (known === undefined || (method !== 'GET' && method !== 'HEAD')) return false
  const bare = (tag: string) => tag.trim().replace(/^W\//, '')
  return known.trim() === '*' || known.split(',').some((tag) => bare(tag) === bare(etag))
}

/** Minimum size of a body to compress, in bytes. Compression gains nothing within a single packet. */
const minCompressedBytes = 1_400

/** Returns the coding that the client prefers; `undefined` if it accepts none, or if compression gains nothing. */
function codingOf({ headers }: IncomingMessage, answer: RestResponse): Coding | undefined {
  if (answer.headers['content-encoding'] !== undefined) return undefined
  if (answer.body.length < minCompressedBytes) return undefined
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

import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { gzip } from 'node:zlib'
import type { RestResponse } from './response.ts'

/** Sends answers: with an entity tag where they can be requested again, compressed where the client accepts it and it saves bytes. */

/** Sends an answer; the server itself omits the body for HEAD. */
export function send(response: ServerResponse, answer: RestResponse): void {
  const { req: request } = response
  const etag = tagOf(request, answer)
  const headers: RestResponse['headers'] = {
    vary: 'accept, accept-encoding',
    ...answer.headers,
    ...(etag !== undefined && { etag }),
  }
  if (etag !== undefined && isKnown(request, etag)) {
    const { 'content-type': _, ...unchanged } = headers
    response.writeHead(304, unchanged)
    response.end()
  } else if (wantsGzip(request, answer)) {
    sendCompressed(response, answer, headers)
  } else {
    sendBody(response, answer.status, headers, answer.body)
  }
}

function sendBody(
  response: ServerResponse,
  status: number,
  headers: RestResponse['headers'],
  body: string | Uint8Array,
): void {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) })
  response.end(body)
}

/** Compresses on another thread, for speed rather than size. */
function sendCompressed(
  response: ServerResponse,
  { status, body }: RestResponse,
  headers: RestResponse['headers'],
): void {
  gzip(body, { level: 1 }, (error, compressed) => {
    if (error === null) {
      sendBody(response, status, { ...headers, 'content-encoding': 'gzip' }, compressed)
    } else {
      sendBody(response, status, headers, body)
    }
  })
}

/** A weak tag, for it names the content whether it is compressed or not. */
function tagOf({ method }: IncomingMessage, { status, headers, body }: RestResponse) {
  const isRead = method === 'GET' || method === 'HEAD'
  if (!isRead || status !== 200 || headers.etag !== undefined) return headers.etag
  return `W/"${createHash('sha1').update(body).digest('base64url')}"`
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

function wantsGzip({ headers, method }: IncomingMessage, answer: RestResponse): boolean {
  if (method === 'HEAD' || answer.headers['content-encoding'] !== undefined) return false
  if (answer.body.length < leastCompressed) return false
  const accepted = headers['accept-encoding']?.toString() ?? ''
  return accepted.split(',').some((coding) => {
    const [name = '', weight = 'q=1'] = coding
      .toLowerCase()
      .split(';')
      .map((part) => part.trim())
    return (name === 'gzip' || name === '*') && Number(weight.replace('q=', '')) > 0
  })
}

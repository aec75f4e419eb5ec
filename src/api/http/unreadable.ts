import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { RequestUnreadable } from '../errors/api-errors.ts'
import { toRest } from '../errors/errors.ts'
import { refuseUpgrade } from '../streams/ws.ts'

/** Refuses requests that cannot be parsed, with a JSON body like every error, because legacy clients always read JSON. */

/** Maximum size of request line and headers together, in bytes. */
export const maxHeadBytes = 16_384

/** Answers requests that a server cannot parse, and then closes the connection. */
export function answerUnreadable(server: Server): void {
  const answerOn = new WeakMap<Duplex, ServerResponse>()
  server.on('request', ({ socket }, response: ServerResponse) => {
    answerOn.set(socket, response)
    response.on('close', () => answerOn.delete(socket))
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // Data after the headers of another response would be read as a part of that response.
    const isAnswering = answerOn.get(socket)?.headersSent ?? false
    if (!socket.writable || error.code === 'ECONNRESET' || isAnswering) {
      socket.destroy()
      return
    }
    refuseUpgrade(socket, toRest(unreadable(error, server.requestTimeout)))
  })
}

/** Returns what is wrong with a parsed request head. Node itself would answer without a body, or accept the head. */
export function headProblem({
  httpVersion,
  headers,
  rawHeaders,
}: IncomingMessage): RequestUnreadable | undefined {
  const { host, expect = '100-continue' } = headers
  if (host === undefined && httpVersion === '1.1') {
    return { code: 'REQUEST_MALFORMED', reason: 'the header Host is missing' }
  }
  // Node keeps the first one. A proxy in front may have routed by the other one (RFC 9112, 3.2).
  if (hasTwoHosts(rawHeaders)) {
    return { code: 'REQUEST_MALFORMED', reason: 'the header Host is repeated' }
  }
  if (expect.toLowerCase() === '100-continue') return undefined
  return { code: 'REQUEST_MALFORMED', reason: 'the header Expect supports only 100-continue' }
}

/** Whether names and values in turn have the name `Host` twice. */
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]
    if (name?.length === 4 && name.toLowerCase() === 'host') count++
  }
  return count > 1
}

function unreadable(error: NodeJS.ErrnoException, limitMs: number): RequestUnreadable {
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    return { code: 'REQUEST_HEAD_TOO_LARGE', limit: maxHeadBytes }
  }
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return { code: 'REQUEST_TOO_SLOW', limitMs }
  return { code: 'REQUEST_MALFORMED', reason: error.message }
}

import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { toRest } from './errors.ts'
import { refuseUpgrade } from './ws.ts'

/**
 * Requests that ask for another protocol than HTTP/1.1. Some clients offer HTTP/2 with every request (`Upgrade: h2c`:
 * Java's, and curl's `--http2`) and mean to be answered all the same; a server that does not take the offer ignores it.
 */

/** Whether a request asks for a WebSocket. */
export function wantsWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket'
}

/** Serves such a request as one that offers nothing. Node has detached the connection, so it is passed to the server again. */
export function ignoreUpgrade(
  server: Server,
  request: IncomingMessage,
  socket: Duplex,
  rest: Buffer,
): void {
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}`]
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    const [name = '', value = ''] = request.rawHeaders.slice(i, i + 2)
    const kept = keptOf(name.toLowerCase(), value)
    if (kept !== undefined) lines.push(`${name}: ${kept}`)
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), rest]))
  server.emit('connection', socket)
}

/** Nothing is tunnelled. */
export function refuseTunnels(server: Server): void {
  server.on('connect', ({ url = '' }: IncomingMessage, socket: Duplex) => {
    refuseUpgrade(socket, toRest({ code: 'PATH_UNKNOWN', path: url }))
  })
}

/** What is left of a header; `undefined` for nothing. */
function keptOf(name: string, value: string): string | undefined {
  if (name === 'upgrade' || name === 'http2-settings') return undefined
  if (name !== 'connection') return value
  const kept = value.split(',').filter((word) => !/^\s*(upgrade|http2-settings)\s*$/i.test(word))
  return kept.length === 0 ? undefined : kept.join(',').trim()
}

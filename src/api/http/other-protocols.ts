import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { toRest } from '../errors/errors.ts'
import { refuseUpgrade } from '../streams/ws.ts'

/**
 * Handles requests for protocols other than HTTP/1.1. Some clients offer HTTP/2 with every request (`Upgrade: h2c`: Java's
 * client, and curl with `--http2`) and still expect a response; a server that does not support the offer ignores it.
 */

/** Whether a request is a WebSocket upgrade. */
export function wantsWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket'
}

/** Serves an upgrade request as a plain request. Node has detached the connection, so it is passed to the server again. */
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

/** Refuses all CONNECT requests. */
export function refuseTunnels(server: Server): void {
  server.on('connect', ({ url = '' }: IncomingMessage, socket: Duplex) => {
    refuseUpgrade(socket, toRest({ code: 'PATH_UNKNOWN', path: url }))
  })
}

/** Returns the value of a header without the upgrade offer; `undefined` if nothing is left. */
function keptOf(name: string, value: string): string | undefined {
  if (name === 'upgrade' || name === 'http2-settings') return undefined
  if (name !== 'connection') return value
  const kept = value.split(',').filter((word) => !/^\s*(upgrade|http2-settings)\s*$/i.test(word))
  return kept.length === 0 ? undefined : kept.join(',').trim()
}

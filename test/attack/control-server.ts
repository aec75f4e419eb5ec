import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import { defaultClientLimits } from '../../src/api/limits.ts'
import { isAttacker } from './from-address.ts'
import { keyOf, type Recorded } from './other-requests.ts'

/**
 * A bare server, in a process of its own, that knows the attacker: it refuses all requests of the attacker at once, and does no other work
 * for them. Other clients get the responses of a gateway, which were recorded before.
 */

const refusal = '{"errors":[{"message":"refused","extensions":{"code":"REFUSED"}}]}'
const acknowledged = '{"type":"connection_ack"}'
const [maxFrame, maxWaiting] = [2 ** 20, 2 ** 20]

function serve({ socketPayload, responses }: Recorded): void {
  const server = createServer((request, response) => {
    const recorded = responses[keyOf(request.method ?? '', request.url ?? '')]
    if (recorded === undefined || isAttacker(request.socket)) {
      response.writeHead(429, { 'content-type': 'application/json' }).end(refusal)
    } else {
      response.writeHead(200, { 'content-type': recorded.type })
      if (recorded.type.startsWith('text/event-stream')) response.write(recorded.text)
      else response.end(recorded.text)
    }
  })
  boundConnections(server)

  const sockets = new WebSocketServer({ server, maxPayload: maxFrame })
  sockets.on('connection', (socket, request: IncomingMessage) => {
    const isRefused = isAttacker(request.socket)
    socket.on('error', () => {})
    socket.on('message', (bytes) => {
      const { type, id }: { type?: string; id?: string } = parsed(String(bytes))
      if (socket.bufferedAmount > maxWaiting) socket.terminate()
      else if (type === 'connection_init') socket.send(acknowledged)
      else if (type === 'subscribe' && isRefused) {
        socket.send(`{"id":"${id}","type":"error","payload":${refusal}}`)
      } else if (type === 'subscribe') {
        socket.send(`{"id":"${id}","type":"next","payload":${socketPayload}}`)
        socket.send(`{"id":"${id}","type":"complete"}`)
      } else if (type !== 'ping') socket.close(4400, 'Invalid message received')
    })
  })

  server.listen(0, '127.0.0.1', () => {
    process.send?.((server.address() as AddressInfo).port)
  })
}

/** Closes connections of the attacker above the limit of one client, as the gateway does. */
function boundConnections(server: ReturnType<typeof createServer>): void {
  let open = 0
  server.on('connection', (socket) => {
    if (!isAttacker(socket)) return
    if (open >= defaultClientLimits.connections) socket.destroy()
    else {
      open++
      socket.once('close', () => open--)
    }
  })
}

function parsed(text: string): object {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}

process.once('message', serve)

import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Calls `act` once for each connection of a server, although `ignoreUpgrade` passes some connections to the server twice. Listen to the
 * close of a connection by `on`: it occurs once, and each listener by `once` takes 180 bytes more for as long as the connection is open.
 */
export function onEachConnection(server: Server, act: (socket: Socket) => void): void {
  const seen = new WeakSet<Socket>()
  server.on('connection', (socket: Socket) => {
    if (seen.has(socket)) return
    seen.add(socket)
    act(socket)
  })
}

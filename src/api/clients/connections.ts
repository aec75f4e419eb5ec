import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** Calls `act` once for each connection of a server, although `ignoreUpgrade` passes some connections to the server twice. */
export function onEachConnection(server: Server, act: (socket: Socket) => void): void {
  const seen = new WeakSet<Socket>()
  server.on('connection', (socket: Socket) => {
    if (seen.has(socket)) return
    seen.add(socket)
    act(socket)
  })
}

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A TCP proxy that a test can halt: the connections stay open, but no bytes pass. */
export interface HaltingProxy {
  readonly port: number
  halt(): void
  resume(): void
  close(): Promise<void>
}

/** Opens a proxy to a port of this machine. */
export async function openHaltingProxy(port: number): Promise<HaltingProxy> {
  const sockets = new Set<Socket>()
  let isHalted = false

  function join(from: Socket, to: Socket): void {
    sockets.add(from)
    if (isHalted) from.pause()
    else from.resume()
    from.on('data', (bytes) => to.write(bytes))
    from.on('error', () => to.destroy())
    from.on('close', () => {
      sockets.delete(from)
      to.destroy()
    })
  }

  const server = createServer((socket) => {
    const upstream = connect(port, '127.0.0.1')
    join(socket, upstream)
    join(upstream, socket)
    if (!isHalted) return
    for (const one of [socket, upstream]) one.pause()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    halt: () => {
      isHalted = true
      for (const socket of sockets) socket.pause()
    },
    resume: () => {
      isHalted = false
      for (const socket of sockets) socket.resume()
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

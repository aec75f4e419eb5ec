import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A way to a server on which nothing passes any more when the test says so, and no connection ends. */
export interface HaltingProxy {
  readonly port: number
  halt(): void
  resume(): void
  close(): Promise<void>
}

/** Opens a way to a port of this machine. */
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
    const behind = connect(port, '127.0.0.1')
    join(socket, behind)
    join(behind, socket)
    if (!isHalted) return
    for (const one of [socket, behind]) one.pause()
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

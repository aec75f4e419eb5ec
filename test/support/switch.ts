import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A TCP proxy whose target a test can change, like a failover proxy. */
export interface Switch {
  readonly port: number
  /** Destroys every connection. New connections go to the port; without a port, they are closed. */
  leadTo(port: number | undefined): void
  /** Sends new connections to the port and keeps the open ones, like a load balancer. */
  spreadTo(port: number): void
  close(): Promise<void>
}

/** Opens a proxy to a port of this machine. */
export async function openSwitch(first: number | undefined): Promise<Switch> {
  let target = first
  const sockets = new Set<Socket>()

  const server = createServer((socket) => {
    if (target === undefined) {
      socket.destroy()
      return
    }
    const upstream = connect(target, '127.0.0.1')
    for (const one of [socket, upstream]) {
      sockets.add(one)
      one.on('error', () => {})
      one.on('close', () => {
        sockets.delete(one)
        socket.destroy()
        upstream.destroy()
      })
    }
    socket.pipe(upstream).pipe(socket)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')

  function cut(): void {
    for (const socket of sockets) socket.destroy()
  }

  return {
    port: (server.address() as AddressInfo).port,
    leadTo: (port) => {
      target = port
      cut()
    },
    spreadTo: (port) => {
      target = port
    },
    close: async () => {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}

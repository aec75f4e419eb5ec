import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A port that leads to one server, and then to another, as a failover proxy does. */
export interface Switch {
  readonly port: number
  /** Ends every connection; new ones lead to this port, or are refused where there is none. */
  leadTo(port: number | undefined): void
  /** New connections lead to this port, and those that are open stay, as with a proxy that spreads them. */
  spreadTo(port: number): void
  close(): Promise<void>
}

/** Opens a port of this machine that leads to another one. */
export async function openSwitch(first: number | undefined): Promise<Switch> {
  let target = first
  const sockets = new Set<Socket>()

  const server = createServer((socket) => {
    if (target === undefined) {
      socket.destroy()
      return
    }
    const behind = connect(target, '127.0.0.1')
    for (const one of [socket, behind]) {
      sockets.add(one)
      one.on('error', () => {})
      one.on('close', () => {
        sockets.delete(one)
        socket.destroy()
        behind.destroy()
      })
    }
    socket.pipe(behind).pipe(socket)
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

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A way to a server of PostgreSQL, without encryption, on which a statement is held when the test says so. */
export interface HoldingProxy {
  readonly port: number
  /** Holds the next statement that has this text, with all that its client sends behind it; resolves when it is there. */
  hold(text: string): Promise<Held>
  close(): Promise<void>
}

/** A statement that its server has not got. */
export interface Held {
  /** Gives it to its server. */
  release(): void
  /** Loses it, with every connection. */
  lose(): void
}

/** Opens a way to a port of this machine. */
export async function openHoldingProxy(port: number): Promise<HoldingProxy> {
  const sockets = new Set<Socket>()
  let wanted: { readonly text: string; readonly found: (held: Held) => void } | undefined

  function cut(): void {
    for (const socket of sockets) socket.destroy()
  }

  function pass(client: Socket, server: Socket, bytes: Buffer): void {
    if (wanted === undefined || !bytes.includes(wanted.text)) {
      server.write(bytes)
      return
    }
    client.pause()
    wanted.found({
      release: () => {
        server.write(bytes)
        client.resume()
      },
      lose: cut,
    })
    wanted = undefined
  }

  const server = createServer((client) => {
    const behind = connect(port, '127.0.0.1')
    client.on('data', (bytes: Buffer) => pass(client, behind, bytes))
    behind.on('data', (bytes) => client.write(bytes))
    for (const one of [client, behind]) {
      sockets.add(one)
      one.on('error', () => {})
      one.on('close', () => {
        sockets.delete(one)
        client.destroy()
        behind.destroy()
      })
    }
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')

  return {
    port: (server.address() as AddressInfo).port,
    hold: (text) =>
      new Promise((found) => {
        wanted = { text, found }
      }),
    close: async () => {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A proxy of a PostgreSQL server, without encryption, that can hold a statement. */
export interface HoldingProxy {
  readonly port: number
  /** Holds the next statement that contains the text, and everything that its client sends after it. Resolves when it arrives. */
  hold(text: string): Promise<HeldStatement>
  close(): Promise<void>
}

/** A statement that the server has not received. */
export interface HeldStatement {
  /** Sends it to the server. */
  release(): void
  /** Drops it, and closes all connections. */
  drop(): void
}

/** Opens a proxy of a port of this machine. */
export async function openHoldingProxy(port: number): Promise<HoldingProxy> {
  const sockets = new Set<Socket>()
  let request:
    | { readonly text: string; readonly resolve: (held: HeldStatement) => void }
    | undefined

  function closeAll(): void {
    for (const socket of sockets) socket.destroy()
  }

  function forward(client: Socket, server: Socket, bytes: Buffer): void {
    if (request === undefined || !bytes.includes(request.text)) {
      server.write(bytes)
      return
    }
    client.pause()
    request.resolve({
      release: () => {
        server.write(bytes)
        client.resume()
      },
      drop: closeAll,
    })
    request = undefined
  }

  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    client.on('data', (bytes: Buffer) => forward(client, upstream, bytes))
    upstream.on('data', (bytes) => client.write(bytes))
    for (const one of [client, upstream]) {
      sockets.add(one)
      one.on('error', () => {})
      one.on('close', () => {
        sockets.delete(one)
        client.destroy()
        upstream.destroy()
      })
    }
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')

  return {
    port: (server.address() as AddressInfo).port,
    hold: (text) =>
      new Promise((resolve) => {
        request = { text, resolve }
      }),
    close: async () => {
      closeAll()
      server.close()
      await once(server, 'close')
    },
  }
}

import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A TCP proxy in front of a gateway; the test can destroy its connections at any time. */
export interface CuttableProxy {
  /** The URL of the root, without a trailing slash. */
  readonly url: string
  /** Destroys all connections, and returns the number of destroyed sockets: two for each connection. */
  cut(): number
  close(): void
}

/** Opens a proxy to the gateway at a URL. */
export async function openCuttableProxy(url: string): Promise<CuttableProxy> {
  const { port } = new URL(url)
  const open = new Set<Socket>()
  const proxy = createServer((socket) => {
    const there = connect(Number(port), '127.0.0.1')
    for (const end of [socket, there]) {
      open.add(end)
      end.on('error', () => {})
      end.on('close', () => open.delete(end))
    }
    socket.pipe(there).pipe(socket)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const cut = () => {
    const count = open.size
    for (const socket of open) socket.destroy()
    return count
  }
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    cut,
    close: () => {
      proxy.close()
      cut()
    },
  }
}

import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A way to a gateway whose connections the test ends in the middle. */
export interface CuttableProxy {
  /** Of its root, without a slash at the end. */
  readonly url: string
  /** Ends all connections; gives how many ends they had. */
  cut(): number
  close(): void
}

/** Opens a way to the gateway at a URL. */
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

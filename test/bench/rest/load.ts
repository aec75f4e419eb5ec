import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A client of HTTP that costs next to nothing, so that the server is what is measured. */

/** One connection, one request at a time. */
export interface Line {
  /** Resolves with the body; anything but 200 fails. */
  get(path: string): Promise<Buffer>
  end(): void
}

/** Connects to a port of this machine. */
export async function openLine(port: number): Promise<Line> {
  const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  let received: Buffer[] = []
  let length = 0
  let wanted = Number.POSITIVE_INFINITY
  let done: (body: Buffer) => void = () => {}
  let fail: (error: Error) => void = () => {}

  socket.on('data', (chunk) => {
    received.push(chunk)
    length += chunk.length
    if (wanted === Number.POSITIVE_INFINITY) {
      const head = Buffer.concat(received)
      const end = head.indexOf('\r\n\r\n')
      if (end === -1) return
      const text = head.toString('latin1', 0, end).toLowerCase()
      if (!text.startsWith('http/1.1 200 ')) return fail(new Error(text))
      wanted = end + 4 + Number(/\r\ncontent-length: (\d+)/.exec(text)?.[1])
    }
    if (length < wanted) return
    const all = Buffer.concat(received)
    const body = all.subarray(all.indexOf('\r\n\r\n') + 4)
    received = []
    length = 0
    wanted = Number.POSITIVE_INFINITY
    done(body)
  })
  socket.on('error', (error) => fail(error))
  socket.on('close', () => fail(new Error('the server closed the line')))

  return {
    get: (path) =>
      new Promise((resolve, reject) => {
        done = resolve
        fail = reject
        socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`)
      }),
    end: () => socket.destroy(),
  }
}

/** Requests a second over all lines together, each asking for the next of the paths as soon as it is answered. */
export async function throughput(
  lines: readonly Line[],
  paths: Iterator<string>,
  milliseconds: number,
): Promise<number> {
  let answered = 0
  const start = performance.now()
  const end = start + milliseconds
  await Promise.all(
    lines.map(async (line) => {
      while (performance.now() < end) {
        await line.get(paths.next().value)
        answered++
      }
    }),
  )
  return (answered * 1_000) / (performance.now() - start)
}

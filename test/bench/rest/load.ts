import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** An HTTP client that needs little processor time, so that a benchmark measures the server. */

/** A connection with one request at a time. */
export interface Line {
  /** Resolves to the body; rejects if the status is not 200. `headers` are additional header lines, each with its line end. */
  get(path: string, headers?: string): Promise<Buffer>
  /** Posts JSON; resolves to a response of any status. */
  post(path: string, json: string): Promise<HttpResponse>
  /** Posts a serialized block. */
  postBlock(path: string, bytes: Uint8Array): Promise<HttpResponse>
  end(): void
}

interface HttpResponse {
  readonly status: number
  readonly body: Buffer
}

/** Connects to a port of this machine. */
export async function openLine(port: number): Promise<Line> {
  const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  let received: Buffer[] = []
  let length = 0
  let wanted = Number.POSITIVE_INFINITY
  let status = 0
  let done: (response: HttpResponse) => void = () => {}
  let fail: (error: Error) => void = () => {}

  socket.on('data', (chunk) => {
    received.push(chunk)
    length += chunk.length
    if (wanted === Number.POSITIVE_INFINITY) {
      const head = Buffer.concat(received)
      const end = head.indexOf('\r\n\r\n')
      if (end === -1) return
      const text = head.toString('latin1', 0, end).toLowerCase()
      status = Number(text.split(' ')[1])
      wanted = end + 4 + Number(/\r\ncontent-length: (\d+)/.exec(text)?.[1])
    }
    if (length < wanted) return
    const all = Buffer.concat(received)
    const body = all.subarray(all.indexOf('\r\n\r\n') + 4)
    received = []
    length = 0
    wanted = Number.POSITIVE_INFINITY
    done({ status, body })
  })
  socket.on('error', (error) => fail(error))
  socket.on('close', () => fail(new Error('the server closed the connection')))

  const exchange = (request: string | Uint8Array) =>
    new Promise<HttpResponse>((resolve, reject) => {
      done = resolve
      fail = reject
      // A connection that is closed already has no further event.
      socket.write(request, (error) => error && reject(error))
    })
  const host = `host: 127.0.0.1:${port}\r\n`

  return {
    get: async (path, headers = '') => {
      const response = await exchange(`GET ${path} HTTP/1.1\r\n${host}${headers}\r\n`)
      if (response.status !== 200) throw new Error(`${path}: ${response.status} ${response.body}`)
      return response.body
    },
    post: (path, json) => {
      const head = `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(json)}`
      return exchange(`POST ${path} HTTP/1.1\r\n${host}${head}\r\n\r\n${json}`)
    },
    postBlock: (path, bytes) => {
      const head = `content-type: application/vnd.iota.serializer-v2\r\ncontent-length: ${bytes.length}`
      return exchange(
        Buffer.concat([Buffer.from(`POST ${path} HTTP/1.1\r\n${host}${head}\r\n\r\n`), bytes]),
      )
    },
    end: () => socket.destroy(),
  }
}

/** The responses per second over all connections. Each connection requests the next path as soon as it has a response. */
export async function throughput(
  lines: readonly Line[],
  paths: Iterator<string>,
  milliseconds: number,
): Promise<number> {
  let responses = 0
  const start = performance.now()
  const end = start + milliseconds
  await Promise.all(
    lines.map(async (line) => {
      while (performance.now() < end) {
        await line.get(paths.next().value)
        responses++
      }
    }),
  )
  return (responses * 1_000) / (performance.now() - start)
}

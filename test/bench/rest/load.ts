import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A client of HTTP that costs next to nothing, so that the server is what is measured. */

/** One connection, one request at a time. */
export interface Line {
  /** Resolves with the body; anything but 200 fails. `headers` are further lines of the head, each with its end. */
  get(path: string, headers?: string): Promise<Buffer>
  /** Posts JSON; resolves whatever is answered. */
  post(path: string, json: string): Promise<Answer>
  /** Posts a serialized block. */
  postBlock(path: string, bytes: Uint8Array): Promise<Answer>
  end(): void
}

interface Answer {
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
  let done: (answer: Answer) => void = () => {}
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
  socket.on('close', () => fail(new Error('the server closed the line')))

  const exchange = (request: string | Uint8Array) =>
    new Promise<Answer>((resolve, reject) => {
      done = resolve
      fail = reject
      socket.write(request)
    })
  const host = `host: 127.0.0.1:${port}\r\n`

  return {
    get: async (path, headers = '') => {
      const answer = await exchange(`GET ${path} HTTP/1.1\r\n${host}${headers}\r\n`)
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.body}`)
      return answer.body
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

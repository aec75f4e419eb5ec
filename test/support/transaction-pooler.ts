import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { Client } from 'pg'

/**
 * A connection pooler that assigns a database connection to a client for one transaction, like PgBouncer with
 * `pool_mode=transaction`. The next client of the connection gets the session settings of the former one, and `LISTEN` has no effect.
 */

/** A running pooler. */
export interface TransactionPooler {
  /** The URL of the same database through the pooler. */
  readonly url: string
  /** The number of times that a connection was assigned to a client. */
  lent(): number
  close(): Promise<void>
}

/** A connection of the database. */
interface Backend {
  readonly client: Client
  readonly stream: Socket
}

/** Starts a pooler in front of a database, with `size` connections to it. */
export async function startPooler(url: string, size: number): Promise<TransactionPooler> {
  const backends = await Promise.all(Array.from({ length: size }, () => connectBackend(url)))
  const free = [...backends]
  const waiting: ((backend: Backend) => void)[] = []
  const sockets = new Set<Socket>()
  let lent = 0

  function borrow(): Promise<Backend> {
    lent++
    const backend = free.pop()
    if (backend !== undefined) return Promise.resolve(backend)
    return new Promise((resolve) => waiting.push(resolve))
  }

  function giveBack(backend: Backend): void {
    const next = waiting.shift()
    if (next === undefined) free.push(backend)
    else next(backend)
  }

  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    serve(socket, { borrow, giveBack })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  return {
    url: Object.assign(new URL(url), { port: String(port) }).href,
    lent: () => lent,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
      for (const { stream } of backends) stream.destroy()
    },
  }
}

/** Connects and logs in by the driver; afterwards the pooler reads and writes the bytes of the connection itself. */
async function connectBackend(url: string): Promise<Backend> {
  const client = new Client({ connectionString: url, application_name: 'pooler' })
  client.on('error', () => {})
  await client.connect()
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
  stream.removeAllListeners('data')
  return { client, stream }
}

interface Pool {
  borrow(): Promise<Backend>
  giveBack(backend: Backend): void
}

/** Serves one client. Sends all its messages until the end of its transaction to the assigned connection. */
function serve(socket: Socket, pool: Pool): void {
  let isGreeted = false
  let bytes = Buffer.alloc(0)
  let backend: Promise<Backend> | undefined
  /** The number of outstanding responses; each ends with `ReadyForQuery`. */
  let owed = 0

  socket.on('data', (chunk) => {
    bytes = Buffer.concat([bytes, chunk])
    for (let size = wholeMessage(); size > 0; size = wholeMessage()) {
      const message = bytes.subarray(0, size)
      bytes = bytes.subarray(size)
      if (!isGreeted) greet(message)
      else pass(message)
    }
  })
  socket.on('close', () => {
    // Rolls back the open transaction of the client, and returns the connection to the pool.
    void backend?.then((own) => {
      own.stream.removeAllListeners('data')
      own.stream.write(queryMessage('ROLLBACK'))
      own.stream.once('data', () => pool.giveBack(own))
    })
  })

  /** The length of the next message; 0 if it is incomplete. The first message of a client has no type. */
  function wholeMessage(): number {
    const head = isGreeted ? 1 : 0
    if (bytes.length < head + 4) return 0
    const size = head + bytes.readInt32BE(head)
    return bytes.length < size ? 0 : size
  }

  function greet(message: Buffer): void {
    const isTls = message.readInt32BE(4) === 80_877_103
    if (isTls) return void socket.write('N')
    isGreeted = true
    socket.write(Buffer.concat([authenticated, encoding, readyForQuery]))
  }

  function pass(message: Buffer): void {
    const type = String.fromCharCode(message[0] ?? 0)
    if (type === 'X') return void socket.end()
    // A query, or a `Sync`, which ends a group of messages.
    if (type === 'Q' || type === 'S') owed++
    if (backend === undefined) {
      backend = pool.borrow()
      void backend.then(listenTo)
    }
    void backend.then(({ stream }) => stream.write(message))
  }

  function listenTo(own: Backend): void {
    let answer = Buffer.alloc(0)
    own.stream.on('data', (chunk) => {
      socket.write(chunk)
      answer = Buffer.concat([answer, chunk])
      while (answer.length >= 5 && answer.length >= 1 + answer.readInt32BE(1)) {
        const size = 1 + answer.readInt32BE(1)
        const isReady = answer[0] === 0x5a
        const isIdle = answer[5] === 0x49
        answer = answer.subarray(size)
        if (isReady) owed--
        if (!isReady || !isIdle || owed > 0) continue
        own.stream.removeAllListeners('data')
        backend = undefined
        pool.giveBack(own)
      }
    })
  }
}

/** A message of the server: type, length, contents (PostgreSQL manual, 55.7). */
function messageOf(type: string, contents: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.write(type, 'latin1')
  head.writeInt32BE(contents.length + 4, 1)
  return Buffer.concat([head, contents])
}

function queryMessage(sql: string): Buffer {
  return messageOf('Q', Buffer.from(`${sql}\0`))
}

const authenticated = messageOf('R', Buffer.alloc(4))
const encoding = messageOf('S', Buffer.from('client_encoding\0UTF8\0'))
const readyForQuery = messageOf('Z', Buffer.from('I'))

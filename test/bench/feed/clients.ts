import { connect, type Socket } from 'node:net'
import { benchAddress } from './addresses.ts'
import { type ClientCommand, type ClientReply, feedQuery, pathOf, sharedNow } from './protocol.ts'

/** Clients on raw sockets. They do as little work as possible, so that the benchmark measures the server. */

interface RawClient {
  readonly socket: Socket
  isOpen: boolean
  rest: Buffer | undefined
  newest: number
}

const clients: RawClient[] = []
let arrivals: [milestone: number, at: bigint][] = []
let bytes = 0

process.on('message', (command: ClientCommand) => {
  void answer(command).then((reply) => process.send?.(reply))
})

async function answer(command: ClientCommand): Promise<ClientReply> {
  let latencies: number[] = []
  const deliveries = arrivals.length
  switch (command.do) {
    case 'open':
      await openAll(command)
      break
    case 'read':
      if (command.isReading) clients.at(-1)?.socket.resume()
      else clients.at(-1)?.socket.pause()
      break
    case 'latencies': {
      const committedAt = new Map(command.committedAt.map(([index, at]) => [index, BigInt(at)]))
      latencies = arrivals.flatMap(([milestone, at]) => {
        const from = committedAt.get(milestone)
        return from === undefined ? [] : [Number(at - from) / 1e6]
      })
      arrivals = []
      break
    }
    case 'count':
      break
    case 'cut':
      for (const { socket } of clients.splice(0)) socket.destroy()
      break
    case 'end':
      process.exit(0)
  }
  return { deliveries, latencies, bytes }
}

async function openAll(command: Extract<ClientCommand, { do: 'open' }>): Promise<void> {
  const { count, firstAddress, atOnce } = command
  let next = 0
  const line = async () => {
    while (next < count) {
      const i = next++
      await openOne(command, addressesOf(firstAddress, i))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, line))
}

function addressesOf(first: number | 'one' | 'all', i: number): string[] | undefined {
  if (first === 'all') return undefined
  return [benchAddress(first === 'one' ? 0 : first + i)]
}

/** Resolves when the feed, or the connection to the bare server, is open. */
function openOne(
  { mode, port, after }: Extract<ClientCommand, { do: 'open' }>,
  addresses: readonly string[] | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    const client: RawClient = { socket, isOpen: false, rest: undefined, newest: -1 }
    clients.push(client)
    socket.setNoDelay(true)
    socket.on('error', reject)
    socket.write(
      [
        `GET ${pathOf[mode]} HTTP/1.1`,
        'Host: 127.0.0.1',
        'Upgrade: websocket',
        'Connection: Upgrade',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Protocol: graphql-transport-ws',
        '\r\n',
      ].join('\r\n'),
    )
    let isUpgraded = false
    socket.on('data', (chunk) => {
      let data = client.rest === undefined ? chunk : Buffer.concat([client.rest, chunk])
      client.rest = undefined
      if (!isUpgraded) {
        const end = data.indexOf('\r\n\r\n')
        if (end === -1) {
          client.rest = data
          return
        }
        isUpgraded = true
        data = data.subarray(end + 4)
        if (mode === 'bare') resolve()
        else {
          // The same form of id as that of graphql-ws.
          const id = crypto.randomUUID()
          const payload = { query: feedQuery, variables: { addresses, ...(after && { after }) } }
          socket.write(frame(JSON.stringify({ type: 'connection_init' })))
          // Subscribes only after the acknowledgement.
          client.rest = undefined
          onAcknowledged = () =>
            socket.write(frame(JSON.stringify({ id, type: 'subscribe', payload })))
        }
      }
      const rest = takeFrames(client, data)
      if (rest.length > 0) client.rest = Buffer.from(rest)
    })

    let onAcknowledged = () => {}
    const opened = () => {
      if (client.isOpen) return
      client.isOpen = true
      resolve()
    }

    function takeFrames(its: RawClient, data: Buffer): Buffer {
      let at = 0
      for (;;) {
        if (data.length - at < 2) break
        const opcode = (data[at] as number) & 15
        let length = (data[at + 1] as number) & 127
        let start = at + 2
        if (length === 126) {
          if (data.length - at < 4) break
          length = data.readUInt16BE(at + 2)
          start = at + 4
        } else if (length === 127) {
          if (data.length - at < 10) break
          length = Number(data.readBigUInt64BE(at + 2))
          start = at + 10
        }
        if (data.length < start + length) break
        takeFrame(its, opcode, data.subarray(start, start + length))
        at = start + length
      }
      return data.subarray(at)
    }

    function takeFrame(its: RawClient, opcode: number, payload: Buffer): void {
      if (opcode === 9) {
        socket.write(frame('', 10))
        return
      }
      if (opcode !== 1) return
      const at = payload.indexOf(milestoneMark)
      if (at !== -1) {
        const milestone = Number.parseInt(
          payload.toString('latin1', at + milestoneMark.length, at + milestoneMark.length + 10),
          10,
        )
        if (addresses !== undefined) arrivals.push([milestone, sharedNow()])
        its.newest = milestone
        if (addresses !== undefined) bytes = payload.length
        opened()
      } else if (payload.includes('connection_ack')) onAcknowledged()
      else if (payload.includes('FeedOpened')) opened()
      else if (payload.includes('"errors"') || payload.includes('"error"')) {
        reject(new Error(payload.toString()))
      }
    }
  })
}

const milestoneMark = Buffer.from('"milestoneIndex":')

/** A masked frame with a mask of zeros. */
function frame(text: string, opcode = 1): Buffer {
  const payload = Buffer.from(text)
  const head =
    payload.length < 126
      ? Buffer.from([128 | opcode, 128 | payload.length, 0, 0, 0, 0])
      : Buffer.from([128 | opcode, 254, payload.length >> 8, payload.length & 255, 0, 0, 0, 0])
  return Buffer.concat([head, payload])
}

import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, type BlockList, connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { defaultLimits, maxTurnsAwaited } from '../../src/api/limits.ts'
import { limitSockets, socketsPerConnection } from '../../src/api/streams/sockets.ts'
import { present } from '../../src/lib/assert.ts'
import { silentLog } from '../../src/lib/log.ts'
import { turnOf } from '../../src/lib/turns.ts'

const answering = (): Server & { blockList?: BlockList } =>
  createServer((_request, response) => response.end('answered'))
const limits = { client: { ...defaultLimits.client, connections: 2 } }
const proxies = { kind: 'none' } as const
const server = answering()
/** Called when a connection arrives. */
let onConnection = () => {}

beforeAll(async () => {
  limitSockets(server, { limits, proxies, openFiles: undefined }, silentLog)
  const blockList = present(server.blockList, 'the block list of the server')
  const check = blockList.check.bind(blockList)
  Object.assign(blockList, {
    check: (address: string) => {
      onConnection()
      return check(address)
    },
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(() => server.close())

async function send(localAddress: string, to = server): Promise<string> {
  const { port } = to.address() as AddressInfo
  const socket = connect({ host: '127.0.0.1', port, localAddress })
  let received = ''
  socket.on('data', (bytes) => {
    received += bytes
  })
  socket.on('error', () => {})
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  await new Promise((resolve) => socket.once('close', resolve))
  return received.includes('answered') ? 'answered' : 'cut'
}

test.each([
  [
    'of a client with the maximum number of waiting requests is accepted',
    maxTurnsAwaited,
    'answered',
  ],
  ['of a client with more waiting requests is closed', maxTurnsAwaited + 1, 'cut'],
])('a connection %s', async (_case, waiting, expected) => {
  onConnection = () => {
    for (let i = 0; i < waiting; i++) void turnOf('127.0.0.6')
  }
  expect(await send('127.0.0.6')).toBe(expected)
  expect(await send('127.0.0.7')).toBe('answered')
})

test('a connection of a client with the maximum number of sockets is closed', async () => {
  const { port } = server.address() as AddressInfo
  onConnection = () => {}
  const silent = Array.from({ length: 2 * socketsPerConnection }, () =>
    connect({ host: '127.0.0.1', port, localAddress: '127.0.0.8' }),
  )
  await Promise.all(silent.map((socket) => once(socket, 'connect')))
  expect(await send('127.0.0.8')).toBe('cut')
  expect(await send('127.0.0.9')).toBe('answered')
  for (const socket of silent) socket.destroy()
})

test('clients with many connections leave room for those of others', async () => {
  const small = answering()
  // Six connections, of which one client may have four.
  limitSockets(small, { limits, proxies, openFiles: 12 }, silentLog)
  small.listen(0, '127.0.0.1')
  await once(small, 'listening')
  const { port } = small.address() as AddressInfo
  const silent: Socket[] = []
  for (const localAddress of ['127.0.0.2', '127.0.0.3']) {
    for (let i = 0; i < 4; i++) {
      const socket = connect({ host: '127.0.0.1', port, localAddress })
      silent.push(socket.on('error', () => {}))
      await once(socket, 'connect')
    }
  }
  expect(await send('127.0.0.4', small)).toBe('answered')
  for (const socket of silent) socket.destroy()
  small.close()
})

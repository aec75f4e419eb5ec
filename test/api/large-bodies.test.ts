import { once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { withRoom } from '../../src/api/http/large-bodies.ts'
import { graphql } from '../support/client.ts'
import { startGateway } from '../support/start-gateway.ts'

type Message = Parameters<typeof withRoom>[1]

function message(length: number): Message {
  return { headers: { 'content-length': String(length) } } as Message
}

test('four large bodies of a client are read at a time, beside short bodies and those of other clients', async () => {
  const reading: string[] = []
  const ends: (() => void)[] = []
  const read = (name: string, client: string, length: number) =>
    withRoom(client, message(length), async () => {
      reading.push(name)
      await new Promise<void>((resolve) => ends.push(resolve))
    })
  const all = ['a1', 'a2', 'a3', 'a4', 'a5', 'a6'].map((name) => read(name, 'a', 65_536))
  all.push(read('short', 'a', 65_535), read('b1', 'b', 1_000_000))
  await setImmediate()
  expect(reading).toEqual(['a1', 'a2', 'a3', 'a4', 'short', 'b1'])
  ends[1]?.()
  await all[1]
  expect(reading.slice(6)).toEqual(['a5'])
  for (let i = 0; i < 8; i++) {
    ends[i]?.()
    await setImmediate()
  }
  await Promise.all(all)
  expect(reading.slice(6)).toEqual(['a5', 'a6'])
})

test('a body that breaks off frees its place for the next', async () => {
  const broken = Array.from({ length: 4 }, () =>
    withRoom('c', message(100_000), () => Promise.reject(new Error('left'))),
  )
  const next = withRoom('c', message(100_000), async () => 'read')
  expect((await Promise.allSettled(broken)).map(({ status }) => status)).toEqual(
    Array(4).fill('rejected'),
  )
  expect(await next).toBe('read')
})

test.each([
  ['/graphql', 'application/json'],
  ['/api/core/v3/blocks', 'application/vnd.iota.serializer-v2'],
])(
  'clients that disconnect while their bodies to %s wait free their places',
  async (path, type) => {
    const gateway = await startGateway()
    try {
      const { hostname, port } = new URL(gateway.url)
      const head = `POST ${path} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: ${type}\r\ncontent-length: 100000\r\n\r\n`
      const sockets = await Promise.all(
        Array.from({ length: 8 }, async () => {
          const socket = connect(Number(port), hostname)
          await once(socket, 'connect')
          socket.write(`${head}{`)
          return socket
        }),
      )
      const short = '{ __typename }'
      // All heads have been read when these responses are sent.
      for (let i = 0; i < 4; i++) await graphql(gateway.url, short)
      // The last connections wait, and are closed first.
      for (const socket of sockets.toReversed()) {
        socket.destroy()
        await once(socket, 'close')
      }
      const { data } = await graphql(gateway.url, short.padEnd(100_000))
      expect(data).toEqual({ __typename: 'Query' })
    } finally {
      await gateway.close()
    }
  },
)

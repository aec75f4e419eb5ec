import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { type ServedLog, serveLog } from '../support/serve-log.ts'
import { until } from '../support/until.ts'

/** Clients that do not read what they asked for. */

const stalledWriteMs = 3_000

let gateway: ServedLog
beforeAll(async () => {
  gateway = await serveLog({ limits: { stalledWriteMs } })
})
afterAll(() => gateway.close())

/** Asks for nine megabytes, more than the system keeps on the way, and reads nothing of it. */
async function askForMuch(): Promise<Socket> {
  const { hostname, port } = new URL(gateway.url)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.on('error', () => {})
  socket.pause()
  await once(socket, 'connect')
  socket.write('GET /graphql HTTP/1.1\r\nHost: test\r\nAccept: text/html\r\n\r\n')
  return socket
}

describe('a plain answer', () => {
  test('that nobody reads is cut, however many wait', async () => {
    const sockets = await Promise.all([...Array(20).keys()].map(askForMuch))
    await until(() => stalledCount() >= sockets.length)
    for (const socket of sockets) {
      const closed = new Promise((resolve) => socket.once('close', resolve))
      socket.resume()
      await closed
    }
  })

  test('that is read slowly comes to its end, though it is written in one piece', async () => {
    const before = stalledCount()
    const socket = await askForMuch()
    let answer = Buffer.alloc(0)
    socket.on('data', async (chunk: Buffer) => {
      answer = Buffer.concat([answer, chunk])
      socket.pause()
      // The system hands on a third of what it keeps at a time, some megabyte; all of it takes longer than nothing may.
      await delay(60)
      socket.resume()
    })
    socket.resume()
    const lengthOf = () =>
      Number(/content-length: (\d+)/i.exec(answer.toString('latin1', 0, 999))?.[1])
    await until(() => answer.length > lengthOf(), { what: 'the answer is whole' })
    expect(stalledCount()).toBe(before)
    socket.destroy()
  })
})

describe('a WebSocket that does not read', () => {
  const open = async (protocol: string, path: string) => {
    const socket = new WebSocket(gateway.url.replace('http', 'ws') + path, protocol)
    socket.on('error', () => {})
    await once(socket, 'open')
    return socket
  }

  test('is given one short answer to pings of a megabyte', async () => {
    const socket = await open('graphql-transport-ws', '/graphql')
    socket.send('{"type":"connection_init"}')
    await once(socket, 'message')
    const heard: string[] = []
    socket.on('message', (bytes) => heard.push(String(bytes)))
    socket.pause()
    const payload = { filling: 'x'.repeat(900_000) }
    for (let i = 0; i < 50; i++) socket.send(JSON.stringify({ type: 'ping', payload }))
    await until(() => socket.bufferedAmount === 0)
    socket.send(JSON.stringify({ type: 'ping', payload: { last: true } }))
    socket.resume()
    await until(() => heard.includes('{"type":"pong","payload":{"last":true}}'))
    expect(heard.join('').length).toBeLessThan(51 * 20)
    socket.close()
  })

  test('is cut when it goes on asking, and read from no more before', async () => {
    const before = stalledCount()
    const socket = await open('graphql-transport-ws', '/graphql')
    socket.send('{"type":"connection_init"}')
    await once(socket, 'message')
    socket.pause()
    const subscribe = { type: 'subscribe', id: 'x'.repeat(200_000), payload: { query: '{ no }' } }
    let sent = 0
    while (stalledCount() === before) {
      if (socket.bufferedAmount < 1_000_000) {
        socket.send(JSON.stringify({ ...subscribe, id: `${sent++} ${subscribe.id}` }))
      }
      await delay(1)
    }
    // What the system keeps in both directions, and little more.
    expect(sent).toBeLessThan(200)
    socket.terminate()
  })
})

function stalledCount(): number {
  return gateway.logged.filter((line) => line.includes('write-stalled')).length
}

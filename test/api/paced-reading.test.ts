import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setImmediate as inNextPhase } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { readInPieces } from '../../src/api/paced-reading.ts'
import { maxUnansweredRequests, trackResponses } from '../../src/api/response-tracker.ts'
import { present } from '../../src/lib/assert.ts'
import { until } from '../support/until.ts'

/** What one connection, or all of one client, may have parsed before others are served. */

const server = createServer()
const reading = readInPieces(server, { kind: 'none' })
const answers = trackResponses(() => reading)
const sockets: Socket[] = []
let taken: ServerResponse[] = []

beforeAll(async () => {
  server.on('request', (_message, response) => {
    answers.add(response)
    taken.push(response)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
})
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
  taken = []
})
afterAll(() => server.close())

async function open(localAddress = '127.0.0.1'): Promise<Socket> {
  const { port } = server.address() as AddressInfo
  const socket = connect({ host: '127.0.0.1', port, localAddress })
  sockets.push(socket)
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

const request = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
const perPiece = Math.ceil(4_096 / request.length)

describe('a connection', () => {
  test('of many requests parses no more than some before they are answered', async () => {
    const socket = await open()
    const count = 2_000
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.write(request.repeat(count))
    await until(() => taken.length > maxUnansweredRequests, { what: 'requests are taken' })
    for (let i = 0; i < 100; i++) await inNextPhase()
    expect(taken.length).toBeLessThanOrEqual(maxUnansweredRequests + perPiece)
    let answered = 0
    await until(
      () => {
        for (const response of taken.splice(0)) response.end(`<${answered++}>`)
        return text.includes(`<${count - 1}>`)
      },
      { what: 'all are answered' },
    )
    const bodies = [...text.matchAll(/<(\d+)>/g)].map(([, number]) => Number(number))
    expect(bodies).toEqual(Array.from({ length: count }, (_, i) => i))
  })

  test('gets a long body whole, and what comes behind an upgrade', async () => {
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, i) => i % 251))
    const socket = await open()
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${bytes.length}\r\n\r\n`)
    socket.write(bytes)
    await until(() => taken.length === 1, { what: 'the request is taken' })
    const [response] = taken.splice(0)
    expect((await buffer(present(response, 'a request').req)).equals(bytes)).toBe(true)
    response?.end()
    const upgraded = new Promise<Buffer>((resolve) => {
      server.once('upgrade', async (_message, duplex: Duplex, head) => {
        const rest = await buffer(duplex)
        duplex.end()
        resolve(Buffer.concat([head, rest]))
      })
    })
    const head = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'
    socket.end(Buffer.concat([Buffer.from(head), bytes]))
    expect((await upgraded).equals(bytes)).toBe(true)
  })

  test('is read in pieces behind an upgrade too', async () => {
    const socket = await open()
    const upgraded = once(server, 'upgrade')
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
    const [, duplex]: Duplex[] = await upgraded
    let [read, most, before] = [0, 0, 0]
    duplex?.on('data', (bytes) => {
      read += bytes.length
    })
    const length = 8_000_000
    socket.write(Buffer.alloc(length))
    while (read < length) {
      await inNextPhase()
      most = Math.max(most, read - before)
      before = read
    }
    expect(most).toBeLessThan(300_000)
    duplex?.destroy()
  })
})

/** Opens connections on a thread of its own, and writes to all of them when it is told, so that all bytes are there at once. */
const writer = `
  const { workerData, parentPort } = require('node:worker_threads')
  const { connect } = require('node:net')
  const { port, text, connections, written } = workerData
  const sockets = Array.from({ length: connections }, () =>
    connect({ host: '127.0.0.1', port, localAddress: '127.0.0.5' }).on('error', () => {}))
  parentPort.once('message', () => {
    let left = connections
    const count = () => {
      if (--left > 0) return
      Atomics.store(written, 0, 1)
      Atomics.notify(written, 0)
    }
    for (const socket of sockets) socket.write(text, count)
  })
`

describe('a client', () => {
  test('of many connections has a part of its requests parsed in each round of the loop', async () => {
    const { port } = server.address() as AddressInfo
    const written = new Int32Array(new SharedArrayBuffer(4))
    const [connections, text] = [20, request.repeat(1_000)]
    const workerData = { port, text, connections, written }
    let accepted = 0
    server.on('connection', () => void accepted++)
    const worker = new Worker(writer, { eval: true, workerData })
    await until(() => accepted === connections, { what: 'all are accepted' })
    worker.postMessage('write')
    // Nothing is read before all is written.
    Atomics.wait(written, 0, 0)
    let [most, before] = [0, 0]
    while (taken.length < connections * (perPiece - 1)) {
      await inNextPhase()
      most = Math.max(most, taken.length - before)
      before = taken.length
    }
    expect(most).toBeLessThanOrEqual(5 * perPiece)
    await worker.terminate()
  })
})

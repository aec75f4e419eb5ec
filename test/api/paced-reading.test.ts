import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setImmediate as inNextPhase } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { readInPieces } from '../../src/api/http/paced-reading.ts'
import { maxUnansweredRequests, trackResponses } from '../../src/api/response-tracker.ts'
import { present } from '../../src/lib/assert.ts'
import { until } from '../support/until.ts'

/** The requests of one connection, or of all connections of one client, that are parsed before other clients are served. */

const server = createServer()
const reading = readInPieces(server, { kind: 'none' })
const watched = trackResponses(() => reading)
const sockets: Socket[] = []
let received: ServerResponse[] = []

beforeAll(async () => {
  server.on('request', (_message, response) => {
    void watched.add(response)
    received.push(response)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
})
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
  received = []
})
afterAll(() => server.close())

async function open(): Promise<Socket> {
  const { port } = server.address() as AddressInfo
  const socket = connect({ host: '127.0.0.1', port })
  sockets.push(socket)
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

const request = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
const perPiece = Math.ceil(4_096 / request.length)

describe('a connection', () => {
  test('with many requests parses a limited number of them before it gets responses', async () => {
    const socket = await open()
    const count = 2_000
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.write(request.repeat(count))
    await until(() => received.length > maxUnansweredRequests, { what: 'requests are received' })
    for (let i = 0; i < 100; i++) await inNextPhase()
    expect(received.length).toBeLessThanOrEqual(maxUnansweredRequests + perPiece)
    let sent = 0
    await until(
      () => {
        for (const response of received.splice(0)) response.end(`<${sent++}>`)
        return text.includes(`<${count - 1}>`)
      },
      { what: 'all responses are received' },
    )
    const bodies = [...text.matchAll(/<(\d+)>/g)].map(([, number]) => Number(number))
    expect(bodies).toEqual(Array.from({ length: count }, (_, i) => i))
  })

  test('delivers a long body completely, and the data after an upgrade', async () => {
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, i) => i % 251))
    const socket = await open()
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${bytes.length}\r\n\r\n`)
    socket.write(bytes)
    await until(() => received.length === 1, { what: 'the request is received' })
    const [response] = received.splice(0)
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

  test('is read in pieces after an upgrade as well', async () => {
    const socket = await open()
    const upgraded = once(server, 'upgrade')
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
    const [, duplex]: Duplex[] = await upgraded
    let [read, maximum, before, held] = [0, 0, 0, 0]
    duplex?.on('data', (bytes: Buffer) => {
      read += bytes.length
      held = Math.max(held, bytes.buffer.byteLength)
    })
    const length = 8_000_000
    socket.write(Buffer.alloc(length))
    while (read < length) {
      await inNextPhase()
      maximum = Math.max(maximum, read - before)
      before = read
    }
    expect(maximum).toBeLessThan(300_000)
    // Who keeps a part of a piece keeps the memory of the piece, and not that of the read.
    expect(held).toBe(4_096)
    duplex?.destroy()
  })
})

/** Opens connections on a thread of its own, and writes to all of them on a message, so that all bytes arrive together. */
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

/** Writes a text on twenty connections of one client. Resolves when everything is written and nothing is read. */
async function writeToMany(text: string): Promise<Worker> {
  const { port } = server.address() as AddressInfo
  const written = new Int32Array(new SharedArrayBuffer(4))
  const workerData = { port, text, connections: manyConnections, written }
  let accepted = 0
  const count = () => void accepted++
  server.on('connection', count)
  const worker = new Worker(writer, { eval: true, workerData })
  await until(() => accepted === manyConnections, { what: 'all connections are accepted' })
  server.off('connection', count)
  worker.postMessage('write')
  // Nothing is read until everything is written.
  Atomics.wait(written, 0, 0)
  return worker
}

const manyConnections = 20

/** The most by which `value` grows in a phase of the event loop, until it reaches `end`. */
async function mostPerPhase(value: () => number, end: number): Promise<number> {
  let [maximum, before] = [0, value()]
  while (before < end) {
    await inNextPhase()
    const now = value()
    maximum = Math.max(maximum, now - before)
    before = now
  }
  return maximum
}

describe('a client', () => {
  test('with many connections has a part of its requests parsed in each turn of the event loop', async () => {
    const worker = await writeToMany(request.repeat(1_000))
    const maximum = await mostPerPhase(() => received.length, manyConnections * (perPiece - 1))
    expect(maximum).toBeLessThanOrEqual(5 * perPiece)
    await worker.terminate()
  })

  test('with many connections has a part of its short chunks parsed in each turn of the event loop', async () => {
    const head = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'
    const chunk = '1\r\nx\r\n'
    let chunks = 0
    server.on('request', (message) => message.on('data', () => void chunks++))
    // Fewer than one read returns.
    const each = 10_000
    const worker = await writeToMany(head + chunk.repeat(each))
    const maximum = await mostPerPhase(() => chunks, manyConnections * each)
    expect(maximum).toBeLessThanOrEqual((4 * 4_096) / chunk.length)
    await worker.terminate()
  })
})

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openStream } from '../../src/client/stream.ts'
import { leastOf } from '../support/least-of.ts'

/**
 * Reads a stream that a server sends in these pieces. Returns the data of its events, and the processor time of this thread in
 * microseconds: that of the process includes the garbage collector and the compiler.
 */
async function read(pieces: readonly Uint8Array[]) {
  const server = createServer(async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const piece of pieces) {
      response.write(piece)
      await setImmediate()
    }
    response.end()
  }).listen(0)
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const before = process.threadCpuUsage()
  const opened = await openStream({
    url: `http://127.0.0.1:${port}`,
    body: '{}',
    headers: {},
    signal: new AbortController().signal,
    onBytes: () => {},
  })
  const events: string[] = []
  let ending: string | undefined
  while (opened.isOpen && ending === undefined) {
    const next = await opened.events.next()
    if (next.done) ending = next.value
    else events.push(next.value)
  }
  const { user, system } = process.threadCpuUsage(before)
  return { events, ending, usedUs: user + system }
}

function piecesOf(text: string, size: number): readonly Uint8Array[] {
  const bytes = Buffer.from(text)
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
    bytes.subarray(n * size, (n + 1) * size),
  )
}

describe('events are read', () => {
  const text = ':\n\nevent: next\ndata: {"a":"é"}\n\nevent: next\ndata: 2\n\nevent: complete\n\n'
  test.each([1, 2, 3, 1_000])('from pieces of %i bytes, also within a character', async (size) => {
    const { events, ending } = await read(piecesOf(text, size))
    expect([events, ending]).toEqual([['{"a":"é"}', '2'], 'complete'])
  })

  test('in a time that grows with their length, however many pieces they have', async () => {
    const usedFor = async (megabytes: number) => {
      const data = 'x'.repeat(megabytes * 1_000_000)
      const { events, usedUs } = await read(piecesOf(`event: next\ndata: ${data}\n\n`, 16_384))
      expect(events.map(({ length }) => length)).toEqual([data.length])
      return usedUs
    }
    const few = await leastOf(() => usedFor(2), 0, 3)
    expect(await leastOf(() => usedFor(16), 16 * few)).toBeLessThan(16 * few)
  })
})

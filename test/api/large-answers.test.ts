import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'

/** Responses that are larger than the buffers of the system: the page of GraphiQL has nine megabytes. */

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway()
})

afterAll(() => gateway.close())

async function page(method: string, headers: Record<string, string> = {}) {
  const outgoing = request(`${gateway.url}/graphql`, {
    method,
    headers: { accept: 'text/html', ...headers },
  })
  outgoing.end()
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  return { length: Number(response.headers['content-length']), body: await buffer(response) }
}

test('the page is complete, plain and compressed, and the response to HEAD has its length alone', async () => {
  const [plain, compressed, head] = await Promise.all([
    page('GET'),
    page('GET', { 'accept-encoding': 'gzip' }),
    page('HEAD'),
  ])
  expect(plain.length).toBeGreaterThan(2 ** 20)
  expect(plain.body.length).toBe(plain.length)
  expect(compressed.body.length).toBe(compressed.length)
  expect(plain.body.equals(gunzipSync(compressed.body))).toBe(true)
  expect(head).toEqual({ length: plain.length, body: Buffer.alloc(0) })
})

test('clients that do not read delay no other client, and leave nothing behind when they disconnect', async () => {
  const { hostname, port } = new URL(gateway.url)
  const sockets = Array.from({ length: 20 }, () => {
    const socket = connect(Number(port), hostname)
    socket.write('GET /graphql HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\n\r\n')
    return socket.pause()
  })
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  const { body, length } = await page('GET')
  expect(body.length).toBe(length)
  for (const socket of sockets) socket.destroy()
  expect((await page('GET')).body.equals(body)).toBe(true)
})

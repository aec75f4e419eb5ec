import { once } from 'node:events'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway({ env: { MAX_CONNECTIONS: '2' } })
})
afterAll(() => gateway.close())

function open(): WebSocket {
  const url = `${gateway.url.replace('http', 'ws')}/graphql`
  const socket = new WebSocket(url, 'graphql-transport-ws')
  socket.on('error', () => {})
  return socket
}

test('a limit that is reached is logged once, and so is the end of it', async () => {
  const events = () =>
    gateway.logged
      .map((line) => JSON.parse(line))
      .filter(({ event }) => event === 'connections-full' || event === 'connections-free')
  const first = [open(), open()]
  for (const socket of first) await once(socket, 'open')
  for (let n = 0; n < 3; n++) {
    const [, response] = await once(open(), 'unexpected-response')
    expect(response.statusCode).toBe(503)
  }
  const reason = 'MAX_CONNECTIONS: 2 are open, and more are refused'
  expect(events()).toMatchObject([{ event: 'connections-full', level: 'warn', reason }])
  for (const socket of first) {
    socket.close()
    await once(socket, 'close')
  }
  const later = open()
  await once(later, 'open')
  expect(events().map(({ event }) => event)).toEqual(['connections-full', 'connections-free'])
  later.close()
})

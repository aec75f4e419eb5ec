import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openStream } from '../support/event-stream.ts'
import { rest, restJson } from '../support/rest.ts'
import { type ServedLog, serveLog } from '../support/serve-log.ts'

/** A gateway that is about to stop, as balancers and clients with open connections see it. */

let served: ServedLog
let agent: Agent

beforeEach(async () => {
  served = await serveLog()
  agent = new Agent({ keepAlive: true, maxSockets: 1 })
})
afterEach(async () => {
  agent.destroy()
  await served.close()
})

const healthQuery = '{ health { isHealthy role term } }'

test('a running gateway is ready and live, and GraphQL reports the same', async () => {
  for (const path of ['/health', '/health/ready']) {
    const ready = { isHealthy: true, reasons: [], role: 'writer', term: 1 }
    expect(await restJson(served.url + path)).toEqual(ready)
  }
  expect(await restJson(`${served.url}/health/live`)).toEqual({ isLive: true })
  const { data } = await served.ask(healthQuery)
  expect(data.health).toEqual({ isHealthy: true, role: 'WRITER', term: 1 })
})

test('a gateway that is about to stop is not ready, and still serves all clients (8)', async () => {
  served.announceStop()
  for (const path of ['/health', '/health/ready']) {
    const response = await rest(served.url + path)
    const { isHealthy, reasons } = await response.json()
    expect([response.status, isHealthy, reasons]).toEqual([503, false, ['closing']])
  }
  expect((await rest(`${served.url}/health/live`)).status).toBe(200)
  const { data } = await served.ask('{ health { isHealthy reasons } }')
  expect(data.health).toEqual({ isHealthy: false, reasons: ['CLOSING'] })
  // New subscribers are accepted, and connections stay open.
  const query = 'subscription { ledgerUpdates { __typename } }'
  const stream = await openStream(`${served.url}/graphql?${new URLSearchParams({ query })}`)
  expect((await stream.result()).data.ledgerUpdates.__typename).toBe('FeedOpened')
  const response = await get('/api/routes')
  expect([response.statusCode, response.headers.connection]).toEqual([200, 'keep-alive'])
  stream.close()
})

test('a connection is closed after a response, and not during a request (8)', async () => {
  // The head has arrived and the body has not, so the request is in progress when the gateway stops.
  const body = JSON.stringify({ query: healthQuery })
  const headers = {
    'content-type': 'application/json',
    'content-length': body.length,
    expect: '100-continue',
  }
  const outgoing = request(`${served.url}/graphql`, { method: 'POST', headers, agent })
  const received = once(outgoing, 'response')
  outgoing.flushHeaders()
  await once(outgoing, 'continue')
  const drained = served.drain(0)
  outgoing.end(body)
  const [incoming] = (await received) as [IncomingMessage]
  expect([incoming.statusCode, incoming.headers.connection]).toEqual([200, 'close'])
  incoming.resume()
  await drained
  await expect(rest(`${served.url}/health/live`)).rejects.toThrow()
})

async function get(path: string): Promise<IncomingMessage> {
  const outgoing = request(served.url + path, { agent })
  outgoing.end()
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
  incoming.resume()
  return incoming
}

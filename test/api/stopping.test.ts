import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openStream } from '../support/event-stream.ts'
import { rest, restJson } from '../support/rest.ts'
import { type ServedLog, serveLog } from '../support/serve-log.ts'

/** A gateway that is about to stop, as balancers and clients with kept connections meet it. */

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

test('it is ready and alive before, and GraphQL says the same', async () => {
  for (const path of ['/health', '/health/ready']) {
    const ready = { isHealthy: true, reasons: [], role: 'writer', term: 1 }
    expect(await restJson(served.url + path)).toEqual(ready)
  }
  expect(await restJson(`${served.url}/health/live`)).toEqual({ isLive: true })
  const { data } = await served.ask(healthQuery)
  expect(data.health).toEqual({ isHealthy: true, role: 'WRITER', term: 1 })
})

test('it is not ready at once, and serves everybody all the same (8)', async () => {
  served.announceStop()
  for (const path of ['/health', '/health/ready']) {
    const response = await rest(served.url + path)
    const { isHealthy, reasons } = await response.json()
    expect([response.status, isHealthy, reasons]).toEqual([503, false, ['closing']])
  }
  expect((await rest(`${served.url}/health/live`)).status).toBe(200)
  const { data } = await served.ask('{ health { isHealthy reasons } }')
  expect(data.health).toEqual({ isHealthy: false, reasons: ['CLOSING'] })
  // Who comes to listen is taken, and connections are kept.
  const query = 'subscription { ledgerUpdates { __typename } }'
  const stream = await openStream(`${served.url}/graphql?${new URLSearchParams({ query })}`)
  expect((await stream.result()).data.ledgerUpdates.__typename).toBe('FeedOpened')
  const kept = await get('/api/routes')
  expect([kept.statusCode, kept.headers.connection]).toEqual([200, 'keep-alive'])
  stream.close()
})

test('a connection is closed behind the answer and not under a request (8)', async () => {
  // The head has come and the body has not, so the request is under way when the gateway stops.
  const body = JSON.stringify({ query: healthQuery })
  const headers = {
    'content-type': 'application/json',
    'content-length': body.length,
    expect: '100-continue',
  }
  const asking = request(`${served.url}/graphql`, { method: 'POST', headers, agent })
  const answered = once(asking, 'response')
  asking.flushHeaders()
  await once(asking, 'continue')
  const drained = served.drain(0)
  asking.end(body)
  const [answer] = (await answered) as [IncomingMessage]
  expect([answer.statusCode, answer.headers.connection]).toEqual([200, 'close'])
  answer.resume()
  await drained
  await expect(rest(`${served.url}/health/live`)).rejects.toThrow()
})

async function get(path: string): Promise<IncomingMessage> {
  const asking = request(served.url + path, { agent })
  asking.end()
  const [answer] = (await once(asking, 'response')) as [IncomingMessage]
  answer.resume()
  return answer
}

import { afterAll, beforeAll, expect, test } from 'vitest'
import { graphql, socketClient } from '../support/client.ts'
import { rest } from '../support/rest.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'
import { until } from '../support/until.ts'
import { untilHealth } from '../support/wallet.ts'

/** Log lines about requests and operations. */

let gateway: TestGateway

beforeAll(async () => {
  // The first execution takes longer than a millisecond, a cached response does not.
  gateway = await startGateway({ env: { SLOW_OPERATION_MS: '1' } })
  await untilHealth(gateway.url)
})
afterAll(() => gateway.close())

/** Returns the log lines of an event that contain a text. */
function lines(of: TestGateway, event: string, text: string) {
  const linesOfEvent = of.logged.filter((line) => line.includes(`"event":"${event}"`))
  return linesOfEvent.filter((line) => line.includes(text)).map((line) => JSON.parse(line))
}

test('a request is logged at level debug with its route', async () => {
  const response = await rest(`${gateway.url}/api/core/v3/blocks/0x${'00'.repeat(36)}`)
  const requestId = response.headers.get('x-request-id') ?? ''
  const line = await until(() => lines(gateway, 'access', requestId)[0])
  expect(line).toEqual({
    time: expect.any(String),
    level: 'debug',
    event: 'access',
    requestId,
    transport: 'http',
    method: 'GET',
    status: 404,
    route: '/api/core/v3/blocks/{blockId}',
    ms: expect.any(Number),
    codes: ['NOT_FOUND'],
  })
})

test('a request whose response is compressed is logged with its status', async () => {
  const headers = { 'accept-encoding': 'gzip' }
  const response = await rest(`${gateway.url}/api/core/v3/info`, { headers })
  expect(response.headers.get('content-encoding')).toBe('gzip')
  const requestId = response.headers.get('x-request-id') ?? ''
  const line = await until(() => lines(gateway, 'access', requestId)[0])
  expect(line).toMatchObject({ status: 200 })
})

test('an operation is logged with its name, kind and cost', async () => {
  const query = 'query Line { ledgerUpdates(first: 5) { nodes { milestoneIndex } } }'
  await graphql(gateway.url, query)
  const line = await until(() => lines(gateway, 'access', '"Line"')[0])
  expect(line).toMatchObject({ route: '/graphql', status: 200, operation: 'Line', kind: 'query' })
  expect(line.cost).toBeGreaterThan(5)
  const client = socketClient(gateway.url)
  const events = client.iterate({ query: 'subscription Open { ledgerUpdates { __typename } }' })
  await events.next()
  const opened = await until(() => lines(gateway, 'access', '"Open"')[0])
  expect(opened).toMatchObject({ transport: 'websocket', kind: 'subscription', operation: 'Open' })
  await events.return?.()
  await client.dispose()
})

test('an operation slower than the threshold is logged at level warn, and none without a threshold', async () => {
  const query = 'query Slow { ledgerUpdates(first: 5) { nodes { milestoneIndex } } }'
  let requests = 0
  // Most requests with a new document take longer than a millisecond, but not all.
  const line = await until(async () => {
    await graphql(gateway.url, `${query} # ${requests++}`)
    return lines(gateway, 'slow-operation', '"Slow"')[0]
  })
  expect(line).toMatchObject({ level: 'warn', operation: 'Slow', route: '/graphql' })
  expect(line.ms).toBeGreaterThanOrEqual(1)
  const silent = await startGateway({ env: { SLOW_OPERATION_MS: '0' } })
  await graphql(silent.url, query)
  await until(() => lines(silent, 'access', '"Slow"')[0])
  expect(lines(silent, 'slow-operation', '')).toEqual([])
  await silent.close()
})

test('a long poll is never logged as slow', async () => {
  const response = await rest(`${gateway.url}/feed/updates?wait=1`)
  expect(response.status).toBe(200)
  const requestId = response.headers.get('x-request-id') ?? ''
  const line = await until(() => lines(gateway, 'access', requestId)[0])
  expect(line.ms).toBeGreaterThan(100)
  expect(lines(gateway, 'slow-operation', requestId)).toEqual([])
})

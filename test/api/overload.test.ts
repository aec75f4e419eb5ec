import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { graphql } from '../support/client.ts'
import { rest } from '../support/rest.ts'
import { startGateway } from '../support/start-gateway.ts'
import { post, refusal } from '../support/submit.ts'
import { until } from '../support/until.ts'

test('an overloaded gateway refuses all requests except those of the operator and of the liveness probe', async () => {
  const gateway = await startGateway({ env: { MAX_LOOP_DELAY: '100' } })
  const socket = new WebSocket(
    `${gateway.url.replace('http', 'ws')}/graphql`,
    'graphql-transport-ws',
  )
  await once(socket, 'open')
  socket.send('{"type":"connection_init"}')
  await once(socket, 'message')
  // The head of this request arrives before the overload, and its body during it.
  const late = connect(Number(new URL(gateway.url).port), '127.0.0.1')
  const body = JSON.stringify({ query: 'subscription { milestones { index } }' })
  const lines = [
    'POST /graphql HTTP/1.1',
    'host: x',
    'accept: text/event-stream',
    'content-type: application/json',
  ]
  late.write([...lines, `content-length: ${body.length}`, '', body.slice(0, 9)].join('\r\n'))
  await until(() => late.bytesWritten > 0)
  expect((await rest(`${gateway.url}/health/live`)).status).toBe(200)
  const has = (event: string) => gateway.logged.some((line) => line.includes(`"${event}"`))

  const busy = setInterval(() => {
    const end = performance.now() + 200
    while (performance.now() < end);
  }, 1)
  await until(() => has('overloaded'))

  late.write(body.slice(9))
  const [answer] = await once(late, 'data')
  expect(String(answer)).toMatch(/^HTTP\/1.1 503 /)
  late.destroy()
  const info = `${gateway.url}/api/core/v3/info`
  const refused = await rest(info)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
  const overloaded = 'this gateway is overloaded; try again later'
  expect(await refusal(await post(gateway.url, '{}'))).toEqual([503, overloaded])
  expect(await refusal(await rest(`${gateway.url}/health/ready`))).toEqual([503, overloaded])
  const { errors } = await graphql(gateway.url, '{ __typename }')
  expect(errors?.[0]?.extensions.code).toBe('GATEWAY_OVERLOADED')
  socket.send('{"id":"1","type":"subscribe","payload":{"query":"{ __typename }"}}')
  const [bytes] = await once(socket, 'message')
  expect(JSON.parse(String(bytes)).payload[0].extensions.code).toBe('GATEWAY_OVERLOADED')
  const mqtt = new WebSocket(`${gateway.url.replace('http', 'ws')}/api/mqtt/v2`, 'mqtt')
  mqtt.on('error', () => {})
  const [, { statusCode }] = await once(mqtt, 'unexpected-response')
  expect(statusCode).toBe(503)

  const as = async (authorization: string) =>
    (await rest(info, { headers: { authorization } })).status
  const [operator, other] = [await gateway.token('operator'), await gateway.token('block:submit')]
  // The second request with a token does not verify it again.
  expect([await as(operator), await as(operator), await as(other)]).toEqual([200, 200, 503])
  expect((await rest(`${gateway.url}/health/live`)).status).toBe(200)
  expect(has('overload-over')).toBe(false)

  clearInterval(busy)
  await until(async () => (await rest(info)).status === 200)
  expect(has('overload-over')).toBe(true)
  socket.terminate()
  await gateway.close()
})

import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { createClientShares } from '../../src/api/client-shares.ts'
import { developmentClientLimits } from '../../src/api/limits.ts'
import { openStream } from '../support/event-stream.ts'
import { slotOf } from '../support/feed-log.ts'
import { addresses } from '../support/log-store.ts'
import { openListener } from '../support/mqtt.ts'
import { rest } from '../support/rest.ts'
import { serveLog } from '../support/serve-log.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'

/** What each client may spend, over all transports together. */

describe('a share', () => {
  let time = 0
  const shares = createClientShares({ costPerSecond: 100 }, () => time)

  test('is full for ten seconds, fills by time, and names the time until there is enough', () => {
    const share = shares.of('one')
    expect(share.take(900)).toBeUndefined()
    expect(share.take(500)).toEqual({
      ...{ code: 'RATE_LIMIT_EXCEEDED', cost: 500 },
      ...{ remaining: 100, retryAfterSeconds: 4 },
    })
    expect(share.headers()).toEqual({
      ratelimit: '"cost";r=100;t=9',
      'ratelimit-policy': '"cost";q=1000;w=10',
    })
    time += 4_000
    expect(share.take(500)).toBeUndefined()
    time += 3_600_000
    expect(share.remaining()).toBe(1_000)
  })

  test('is another for another client', () => {
    shares.of('two').charge(1_000)
    expect([shares.of('two').remaining(), shares.of('three').remaining()]).toEqual([0, 1_000])
  })

  test('gives more than it holds to one operation when it is full, and is in debt then', () => {
    const share = shares.of('four')
    expect(share.take(1_900)).toBeUndefined()
    time += 8_000
    expect(share.take(1)).toMatchObject({ remaining: 0, retryAfterSeconds: 2 })
  })

  test('is spent by what an operation took in the end, whatever it might have taken and else is spent meanwhile', () => {
    const share = shares.of('six')
    expect(share.take(5_000)).toBeUndefined()
    share.charge(10)
    share.charge(600 - 5_000)
    expect(share.remaining()).toBe(400)
  })

  test('is never in debt for longer than it takes to fill', () => {
    const share = shares.of('five')
    share.charge(1_000_000)
    time += 10_100
    expect(share.take(1)).toBeUndefined()
  })
})

// So slow that nothing fills while a test runs.
const costPerSecond = 50
let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway({ env: { TRUST_PROXY: '1', CLIENT_COST: `${costPerSecond}` } })
})
afterAll(() => gateway.close())

let clients = 0
/** The header of a client that has not been there before. */
function newClient(): { 'x-forwarded-for': string } {
  clients++
  return { 'x-forwarded-for': `192.0.2.${clients}` }
}

type Sent = Readonly<Record<string, string>>
let asked = 0
/** A query that takes two fifths of a share to be read, and that was not asked before. */
function dear(): string {
  asked++
  return `{ a${asked}: __typename }#${'-'.repeat(2_250)}`
}

/** Asks for long answers, which are paid for when they are sent, until there is a debt. */
async function spendAll(headers: Sent): Promise<void> {
  const response = await rest(`${gateway.url}/openapi.json`, { headers })
  await response.text()
  if (response.status === 200) await spendAll(headers)
  else expect(response.status).toBe(429)
}
const cheap = '{ __typename }'

function ask(headers: Sent, query = cheap, extensions?: object): Promise<Response> {
  const init = { 'content-type': 'application/json', ...headers }
  const body = JSON.stringify({ query, ...(extensions && { extensions }) })
  return fetch(`${gateway.url}/graphql`, { method: 'POST', headers: init, body })
}

function remaining(response: Response): number {
  const found = /^"cost";r=([0-9]+);t=[0-9]+$/.exec(response.headers.get('ratelimit') ?? '')
  return Number(found?.[1])
}

function openSocket(headers: Sent): WebSocket {
  const url = `${gateway.url.replace('http', 'ws')}/graphql`
  const socket = new WebSocket(url, 'graphql-transport-ws', { headers })
  socket.on('error', () => {})
  return socket
}

/** A socket whose connection has begun, and its next message. */
async function beginSocket(headers: Sent, payload = {}) {
  const socket = openSocket(headers)
  await once(socket, 'open')
  const send = (message: object) => socket.send(JSON.stringify(message))
  const next = async () => JSON.parse(String((await once(socket, 'message'))[0]))
  send({ type: 'connection_init', payload })
  await next()
  return { send, next, close: () => socket.terminate() }
}

/** How a client without anything left is refused, by transport. */
const refusals: Readonly<Record<string, (headers: Sent) => Promise<unknown>>> = {
  'GraphQL over HTTP': async (headers) => {
    const response = await ask(headers)
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    const { errors } = await response.json()
    return [response.status, errors[0].extensions.code]
  },
  REST: async (headers) => {
    const response = await rest(`${gateway.url}/api/core/v3/info`, { headers })
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    await response.text()
    return [response.status, 'RATE_LIMIT_EXCEEDED']
  },
  'the long poll': async (headers) => {
    const response = await rest(`${gateway.url}/feed/updates?wait=1`, { headers })
    await response.text()
    return [response.status, 'RATE_LIMIT_EXCEEDED']
  },
  'an event stream': async (headers) => {
    const query = encodeURIComponent('subscription { ledgerUpdates { __typename } }')
    const stream = await openStream(`${gateway.url}/graphql?query=${query}`, { headers })
    stream.close()
    return [stream.response.status, 'RATE_LIMIT_EXCEEDED']
  },
  'a WebSocket': async (headers) => {
    const [, { statusCode }] = await once(openSocket(headers), 'unexpected-response')
    return [statusCode, 'RATE_LIMIT_EXCEEDED']
  },
  MQTT: async (headers) => {
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/api/mqtt/v2`, 'mqtt', {
      headers,
    })
    socket.on('error', () => {})
    const [, { statusCode }] = await once(socket, 'unexpected-response')
    return [statusCode, 'RATE_LIMIT_EXCEEDED']
  },
}

/** Something that a client spends on, by transport. */
const spending: Readonly<Record<string, (headers: Sent) => Promise<void>>> = {
  'GraphQL over HTTP': async (headers) => {
    expect((await ask(headers, dear())).status).toBe(200)
  },
  'GraphQL the long way': async (headers) => {
    const response = await ask(headers, dear(), { cost: true })
    const { extensions } = await response.json()
    // Some comes back between the two.
    const more = remaining(response) - extensions.cost.remaining
    expect(more).toBeGreaterThanOrEqual(0)
    expect(more).toBeLessThan(costPerSecond)
  },
  REST: async (headers) => {
    await (await rest(`${gateway.url}/openapi.json`, { headers })).text()
  },
  'an event stream': async (headers) => {
    const query = encodeURIComponent(dear())
    const stream = await openStream(`${gateway.url}/graphql?query=${query}`, { headers })
    await stream.result()
    stream.close()
  },
  'a WebSocket': async (headers) => {
    const socket = await beginSocket(headers)
    socket.send({ id: '1', type: 'subscribe', payload: { query: dear() } })
    expect(await socket.next()).toMatchObject({ type: 'next' })
    socket.close()
  },
  MQTT: async (headers) => {
    const listener = await openListener(gateway.url, { wsOptions: { headers } })
    for (let i = 0; i < 20; i++) expect(await listener.listen('commitments/latest')).toBe(0)
    await listener.close()
  },
}

describe('a client', () => {
  test.each(Object.keys(refusals))('that has nothing left is refused by %s', async (transport) => {
    const headers = newClient()
    await spendAll(headers)
    expect(await refusals[transport]?.(headers)).toEqual([429, 'RATE_LIMIT_EXCEEDED'])
    expect((await ask(newClient())).status).toBe(200)
  })

  test.each(Object.keys(spending))('spends by %s what it then has not by others', async (name) => {
    const headers = newClient()
    const before = remaining(await ask(headers))
    await spending[name]?.(headers)
    const after = remaining(await ask(headers))
    expect(before).toBeGreaterThan(costPerSecond * 9)
    expect(before - after).toBeGreaterThan(30)
  })

  test('with a token is the same from every address, and apart from its address', async () => {
    const authorization = `Bearer ${await gateway.token()}`
    const address = newClient()
    await spendAll({ ...address, authorization })
    expect((await ask({ ...newClient(), authorization })).status).toBe(429)
    expect((await ask(address)).status).toBe(200)
    const socket = await beginSocket(address, { Authorization: authorization })
    socket.send({ id: '1', type: 'subscribe', payload: { query: dear() } })
    expect((await socket.next()).payload[0].extensions.code).toBe('RATE_LIMIT_EXCEEDED')
    socket.close()
  })

  test('is not taken for another that sent an empty header as well', async () => {
    const sent = { authorization: '', cookie: `jwt=${await gateway.token()}` }
    // Whether it is the first of its holder or not, the second finds nothing left.
    await ask({ ...newClient(), ...sent }, dear())
    expect((await ask({ ...newClient(), ...sent })).status).toBe(429)
    expect((await ask({ ...newClient(), authorization: '' })).status).toBe(200)
  })

  test('with a token that is not valid is its address, which pays for the check', async () => {
    const address = newClient()
    const before = remaining(await ask(address))
    const authorization = `Bearer ${await gateway.token()}x`
    for (let i = 0; i < 9; i++) expect((await ask({ ...address, authorization })).status).toBe(200)
    expect(before - remaining(await ask(address))).toBeGreaterThan(150)
  })

  test('may ask whether the gateway lives, whatever it has spent', async () => {
    const headers = newClient()
    await spendAll(headers)
    for (const path of ['/health', '/health/live', '/health/ready']) {
      const response = await rest(`${gateway.url}${path}`, { headers })
      expect([response.status, response.headers.has('ratelimit')]).toEqual([200, false])
    }
  })

  test('pays for each update that a feed sends', async () => {
    const served = await serveLog({
      limits: { client: { ...developmentClientLimits, costPerSecond } },
    })
    const left = async () => remaining(await fetch(`${served.url}/graphql?query={__typename}`))
    const query = encodeURIComponent('subscription { ledgerUpdates { __typename } }')
    const stream = await openStream(`${served.url}/graphql?query=${query}`)
    await stream.result()
    const before = await left()
    const rows = 400
    await served.commit(slotOf(...Array(rows).fill(addresses[0])))
    await stream.result()
    expect(before - (await left())).toBeGreaterThan(rows / 2)
    stream.close()
    await served.close()
  })
})

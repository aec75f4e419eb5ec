import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { createClientShares } from '../../src/api/clients/client-shares.ts'
import { developmentClientLimits } from '../../src/api/limits.ts'
import { openStream } from '../support/event-stream.ts'
import { slotOf } from '../support/feed-log.ts'
import { addresses } from '../support/log-store.ts'
import { openListener } from '../support/mqtt.ts'
import { rest } from '../support/rest.ts'
import { serveLog } from '../support/serve-log.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'

/** The share of each client in the cost per second, over all transports together. */

describe('a share', () => {
  let time = 0
  const shares = createClientShares({ costPerSecond: 100 }, () => time)

  test('lasts ten seconds, refills with time, and names the seconds until there is enough', () => {
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

  test('is separate for each client', () => {
    shares.of('two').charge(1_000)
    expect([shares.of('two').remaining(), shares.of('three').remaining()]).toEqual([0, 1_000])
  })

  test('gives more than it holds to one operation when it is full, and is in debt afterwards', () => {
    const share = shares.of('four')
    expect(share.take(1_900)).toBeUndefined()
    time += 8_000
    expect(share.take(1)).toMatchObject({ remaining: 0, retryAfterSeconds: 2 })
  })

  test('is charged with the final cost of an operation, whatever was reserved before or charged meanwhile', () => {
    const share = shares.of('six')
    expect(share.take(5_000)).toBeUndefined()
    share.charge(10)
    share.charge(600 - 5_000)
    expect(share.remaining()).toBe(400)
  })

  test('is never in debt for longer than it takes to refill', () => {
    const share = shares.of('five')
    share.charge(1_000_000)
    time += 10_100
    expect(share.take(1)).toBeUndefined()
  })
})

// So low that hardly anything refills during a test.
const costPerSecond = 50
let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway({ env: { TRUST_PROXY: '1', CLIENT_COST: `${costPerSecond}` } })
  // The second request with a query prepares it, and costs more.
  for (let n = 0; n < 2; n++) await ask(newClient())
})
afterAll(() => gateway.close())

let clients = 0
/** Returns the header of a client that has sent no request yet. */
function newClient(): { 'x-forwarded-for': string } {
  clients++
  return { 'x-forwarded-for': `192.0.2.${clients}` }
}

type RequestHeaders = Readonly<Record<string, string>>
let queries = 0
/** Returns a new query; reading it costs two fifths of a share. */
function expensiveQuery(): string {
  queries++
  return `{ a${queries}: __typename }#${'-'.repeat(2_250)}`
}

/** Requests long responses, which are charged when they are sent, until the share is in debt. */
async function spendAll(headers: RequestHeaders): Promise<void> {
  const response = await rest(`${gateway.url}/openapi.json`, { headers })
  await response.text()
  if (response.status === 200) await spendAll(headers)
  else expect(response.status).toBe(429)
}
const cheapQuery = '{ __typename }'

function ask(headers: RequestHeaders, query = cheapQuery, extensions?: object): Promise<Response> {
  const init = { 'content-type': 'application/json', ...headers }
  const body = JSON.stringify({ query, ...(extensions && { extensions }) })
  return fetch(`${gateway.url}/graphql`, { method: 'POST', headers: init, body })
}

function remaining(response: Response): number {
  const found = /^"cost";r=([0-9]+);t=[0-9]+$/.exec(response.headers.get('ratelimit') ?? '')
  return Number(found?.[1])
}

function openSocket(headers: RequestHeaders): WebSocket {
  const url = `${gateway.url.replace('http', 'ws')}/graphql`
  const socket = new WebSocket(url, 'graphql-transport-ws', { headers })
  socket.on('error', () => {})
  return socket
}

/** Opens a socket and initialises its connection; `next` returns the next message. */
async function beginSocket(headers: RequestHeaders, payload = {}) {
  const socket = openSocket(headers)
  await once(socket, 'open')
  const send = (message: object) => socket.send(JSON.stringify(message))
  const next = async () => JSON.parse(String((await once(socket, 'message'))[0]))
  send({ type: 'connection_init', payload })
  await next()
  return { send, next, close: () => socket.terminate() }
}

/** The refusal of a client with an empty share, by transport. */
const refusals: Readonly<Record<string, (headers: RequestHeaders) => Promise<unknown>>> = {
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

/** Requests that are charged to a client, by transport. */
const spending: Readonly<Record<string, (headers: RequestHeaders) => Promise<void>>> = {
  'GraphQL over HTTP': async (headers) => {
    expect((await ask(headers, expensiveQuery())).status).toBe(200)
  },
  'GraphQL with the cost in the response': async (headers) => {
    const response = await ask(headers, expensiveQuery(), { cost: true })
    const { extensions } = await response.json()
    // The share refills a little in between.
    const more = remaining(response) - extensions.cost.remaining
    expect(more).toBeGreaterThanOrEqual(0)
    expect(more).toBeLessThan(costPerSecond)
  },
  REST: async (headers) => {
    await (await rest(`${gateway.url}/openapi.json`, { headers })).text()
  },
  'an event stream': async (headers) => {
    const query = encodeURIComponent(expensiveQuery())
    const stream = await openStream(`${gateway.url}/graphql?query=${query}`, { headers })
    await stream.result()
    stream.close()
  },
  'a WebSocket': async (headers) => {
    const socket = await beginSocket(headers)
    socket.send({ id: '1', type: 'subscribe', payload: { query: expensiveQuery() } })
    expect(await socket.next()).toMatchObject({ type: 'next' })
    socket.close()
  },
  'a long message of a WebSocket': async (headers) => {
    const socket = await beginSocket(headers)
    socket.send({ type: 'ping', payload: { text: 'x'.repeat(200_000) } })
    expect(await socket.next()).toMatchObject({ type: 'pong' })
    socket.close()
  },
  MQTT: async (headers) => {
    const listener = await openListener(gateway.url, { wsOptions: { headers } })
    for (let i = 0; i < 20; i++) expect(await listener.listen('commitments/latest')).toBe(0)
    await listener.close()
  },
}

describe('a client', () => {
  test.each(Object.keys(refusals))('with an empty share is refused by %s', async (transport) => {
    const headers = newClient()
    await spendAll(headers)
    expect(await refusals[transport]?.(headers)).toEqual([429, 'RATE_LIMIT_EXCEEDED'])
    expect((await ask(newClient())).status).toBe(200)
  })

  test.each(Object.keys(spending))(
    'pays for %s from its share for all transports',
    async (name) => {
      const headers = newClient()
      const before = remaining(await ask(headers))
      await spending[name]?.(headers)
      const after = remaining(await ask(headers))
      expect(before).toBeGreaterThan(costPerSecond * 9)
      expect(before - after).toBeGreaterThan(30)
    },
  )

  test('is told when to retry an event stream whose operation costs more than its share has', async () => {
    const headers = newClient()
    for (let n = 0; n < 2; n++) await (await ask(headers, expensiveQuery())).text()
    const query = encodeURIComponent('{ blocks(first: 500) { nodes { blockId slot } } }')
    const { response, close } = await openStream(`${gateway.url}/graphql?query=${query}`, {
      headers,
    })
    expect(response.status).toBe(429)
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    close()
  })

  test('with a token has one share at all addresses, apart from those of the addresses', async () => {
    const authorization = `Bearer ${await gateway.token()}`
    const address = newClient()
    await spendAll({ ...address, authorization })
    expect((await ask({ ...newClient(), authorization })).status).toBe(429)
    expect((await ask(address)).status).toBe(200)
    const socket = await beginSocket(address, { Authorization: authorization })
    socket.send({ id: '1', type: 'subscribe', payload: { query: expensiveQuery() } })
    expect((await socket.next()).payload[0].extensions.code).toBe('RATE_LIMIT_EXCEEDED')
    socket.close()
  })

  test('with an empty header is not identified by that header', async () => {
    const sent = { authorization: '', cookie: `jwt=${await gateway.token()}` }
    // The second request finds an empty share, whether or not the first one was the first of its holder.
    await ask({ ...newClient(), ...sent }, expensiveQuery())
    expect((await ask({ ...newClient(), ...sent })).status).toBe(429)
    expect((await ask({ ...newClient(), authorization: '' })).status).toBe(200)
  })

  test('with an invalid token is identified by its address, which pays for the check', async () => {
    const address = newClient()
    const before = remaining(await ask(address))
    const authorization = `Bearer ${await gateway.token()}x`
    for (let i = 0; i < 9; i++) expect((await ask({ ...address, authorization })).status).toBe(200)
    expect(before - remaining(await ask(address))).toBeGreaterThan(150)
  })

  test('may request the health of the gateway with an empty share', async () => {
    const headers = newClient()
    await spendAll(headers)
    for (const path of ['/health', '/health/live', '/health/ready']) {
      const response = await rest(`${gateway.url}${path}`, { headers })
      expect([response.status, response.headers.has('ratelimit')]).toEqual([200, false])
    }
  })

  test.each([
    ['compiled', 'application/json'],
    ['not compiled', 'application/json;q=0.9'],
  ])('gets back what a query may cost and does not, %s', async (_, accept) => {
    const headers = { ...newClient(), accept }
    const response = await ask(headers, '{ chainRecords(first: 200) { nodes { chainId } } }')
    expect(await response.json()).toEqual({ data: { chainRecords: { nodes: [] } } })
    expect(remaining(await ask(headers))).toBeGreaterThan(5 * costPerSecond)
  })

  test('pays for each event of a subscription that it shares with nobody', async () => {
    const served = await serveLog({
      limits: { client: { ...developmentClientLimits, costPerSecond } },
    })
    const left = async () => remaining(await fetch(`${served.url}/graphql?query={__typename}`))
    const slots = 25
    const [owner = '0x'] = addresses
    await served.commit(...Array.from({ length: slots }, () => slotOf(owner)))
    await served.known()
    const before = await left()
    const query = encodeURIComponent('subscription { milestones(after: 0) { index } }')
    const stream = await openStream(`${served.url}/graphql?query=${query}`)
    for (let n = 0; n < slots; n++) await stream.result()
    expect(before - (await left())).toBeGreaterThan(10 * slots)
    stream.close()
    await served.close()
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

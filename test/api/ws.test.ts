import { once } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Client } from 'graphql-ws'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { addressText, chainIdOf } from '../support/chain-ids.ts'
import { socketClient } from '../support/client.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'
import { until } from '../support/until.ts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

const mutation = `mutation {
  setChainRecord(chainId: "${chainIdOf(1)}", record: { accessNodes: [], isActive: true }) { setBy }
}`

describe('operations', () => {
  test('a query and a mutation run, with the token in connection_init', async () => {
    const token = await gateway.token('chain-record:write')
    const client = socketClient(gateway.url, { Authorization: `Bearer ${token}` })
    expect(await resultOf(client, mutation)).toEqual({
      data: { setChainRecord: { setBy: 'test' } },
    })
    expect(await resultOf(client, '{ __typename }')).toEqual({ data: { __typename: 'Query' } })
    await client.dispose()
  })

  const rows = [
    ['a mutation without a token', mutation, 'TOKEN_MISSING'],
    ['a malformed document', '{', 'GRAPHQL_PARSE_FAILED'],
    ['an unknown field', '{ nothing }', 'GRAPHQL_VALIDATION_FAILED'],
    [
      'a missing variable',
      'query ($n: Int!) { chainRecords(first: $n) { nodes { version } } }',
      'BAD_USER_INPUT',
    ],
    [
      'an argument that breaks a rule',
      '{ chainRecords(first: -1) { nodes { version } } }',
      'PAGE_SIZE_OUT_OF_RANGE',
    ],
    [
      'a subscription that breaks a rule',
      `subscription { ledgerUpdates(addresses: ["${addressText(0, 1, { hrp: 'iota' })}"]) { __typename } }`,
      'ADDRESS_OF_ANOTHER_NETWORK',
    ],
    [
      'a document of two operations without a name',
      'query A { __typename } query B { __typename }',
      'OPERATION_RESOLUTION_FAILURE',
    ],
  ] as const
  test.each(rows)(
    '%s is refused with its code, and the socket stays open',
    async (_name, query, code) => {
      const client = socketClient(gateway.url)
      expect(await codeOf(client, query)).toBe(code)
      expect(await resultOf(client, '{ __typename }')).toEqual({ data: { __typename: 'Query' } })
      await client.dispose()
    },
  )
})

test('an id may have 256 characters, and a longer id closes the connection', async () => {
  const socket = new WebSocket(
    `${gateway.url.replace('http', 'ws')}/graphql`,
    'graphql-transport-ws',
  )
  await once(socket, 'open')
  socket.send(JSON.stringify({ type: 'connection_init' }))
  await once(socket, 'message')
  const subscribe = (id: string) =>
    socket.send(JSON.stringify({ type: 'subscribe', id, payload: { query: '{ __typename }' } }))
  subscribe('x'.repeat(256))
  const [answer] = await once(socket, 'message')
  expect(JSON.parse(answer)).toMatchObject({ type: 'next', id: 'x'.repeat(256) })
  subscribe('x'.repeat(257))
  const [code, reason] = await once(socket, 'close')
  expect([code, String(reason)]).toEqual([
    4400,
    'The id of an operation is longer than 256 characters',
  ])
})

test('a message may have 24,576 values, and one with more closes the connection', async () => {
  const socket = new WebSocket(
    `${gateway.url.replace('http', 'ws')}/graphql`,
    'graphql-transport-ws',
  )
  await once(socket, 'open')
  // Two objects, a text and a list are values too.
  const ping = (values: number) =>
    socket.send(JSON.stringify({ type: 'ping', payload: { list: Array(values - 4).fill(0) } }))
  ping(24_576)
  const [answer] = await once(socket, 'message')
  expect(JSON.parse(answer)).toMatchObject({ type: 'pong' })
  ping(24_577)
  const [code, reason] = await once(socket, 'close')
  expect([code, String(reason)]).toEqual([4400, 'TOO_MANY_VALUES'])
})

test('a subscription may have 64 KiB, and a longer one is refused while the socket stays open', async () => {
  const socket = open({})
  await once(socket, 'open')
  socket.send('{"type":"connection_init"}')
  await once(socket, 'message')
  const subscribe = async (bytes: number, query: string) => {
    const text = (padding: number) =>
      JSON.stringify({
        type: 'subscribe',
        id: '1',
        payload: { query: query + ' '.repeat(padding) },
      })
    socket.send(text(bytes - text(0).length))
    const [answer] = await once(socket, 'message')
    return JSON.parse(answer)
  }
  const feed = 'subscription { ledgerUpdates { __typename } }'
  const { type, payload } = await subscribe(65_537, feed)
  expect([type, payload[0].extensions.code]).toEqual(['error', 'BODY_TOO_LARGE'])
  expect((await subscribe(65_536, feed)).payload.data.ledgerUpdates.__typename).toBe('FeedOpened')
  socket.terminate()
  const body = JSON.stringify({ query: feed + ' '.repeat(65_536) })
  const headers = { 'content-type': 'application/json', accept: 'text/event-stream' }
  const refused = await fetch(`${gateway.url}/graphql`, { method: 'POST', headers, body })
  expect((await refused.json()).errors[0].extensions.code).toBe('BODY_TOO_LARGE')
})

test('an open connection holds neither what began it nor what its subscriptions do not use', async () => {
  const heapUsed = () => {
    setFlagsFromString('--expose_gc')
    runInNewContext('gc')()
    return process.memoryUsage().heapUsed
  }
  const members = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`${Math.random()}`, i]))
  const feed = 'subscription { ledgerUpdates { __typename } }'
  const sockets: WebSocket[] = []
  const begin = async () => {
    const socket = open({})
    sockets.push(socket)
    await once(socket, 'open')
    socket.send(JSON.stringify({ type: 'connection_init', payload: members(20_000) }))
    await once(socket, 'message')
    for (const part of ['variables', 'extensions']) {
      const payload = { query: feed, [part]: members(2_000) }
      socket.send(JSON.stringify({ type: 'subscribe', id: part, payload }))
      await once(socket, 'message')
    }
  }
  await begin()
  const before = heapUsed()
  for (let i = 0; i < 20; i++) await begin()
  await until(() => heapUsed() - before < 20 * 250_000)
  for (const socket of sockets) socket.terminate()
})

test('an error contains no HTTP status', async () => {
  const client = socketClient(gateway.url)
  const [error] = await client
    .iterate({ query: '{ nothing }' })
    .next()
    .catch((errors) => errors)
  expect(error.extensions).toEqual({ code: 'GRAPHQL_VALIDATION_FAILED' })
  await client.dispose()
})

describe('the cookie', () => {
  const rows = [
    ['is accepted without an origin', undefined, 'ok'],
    ['is accepted for a page of this host', 'own', 'ok'],
    ['is ignored for a page of another host', 'http://evil.example', 'TOKEN_MISSING'],
    ['is ignored for a null origin', 'null', 'TOKEN_MISSING'],
  ] as const
  test.each(rows)('%s', async (_name, origin, expected) => {
    const cookie = `jwt=${await gateway.token('chain-record:write')}`
    const headers = { cookie, ...(origin && { origin: origin === 'own' ? gateway.url : origin }) }
    const [ack, next] = await talk(headers, [
      { type: 'connection_init' },
      { type: 'subscribe', id: '1', payload: { query: mutation } },
    ])
    expect(ack).toEqual({ type: 'connection_ack' })
    const { data, errors } = next?.payload ?? {}
    expect(data?.setChainRecord == null ? errors?.[0]?.extensions.code : 'ok').toBe(expected)
  })
})

describe('a socket is closed', () => {
  const rows = [
    ['for text that is not of the protocol', 'nonsense', 4400],
    [
      'for an operation before connection_init',
      '{"type":"subscribe","id":"1","payload":{"query":"{a}"}}',
      4401,
    ],
    ['for a message over the limit', 'x'.repeat(1_048_577), 1009],
  ] as const
  test.each(rows)('%s', async (_name, text, code) => {
    const socket = open({})
    socket.on('open', () => socket.send(text))
    expect(await closeCodeOf(socket)).toBe(code)
  })

  test.each(['{"type":"connection_ack"}', '{"type":"next","id":"1","payload":{}}'])(
    'for %s, which only a server may send',
    async (text) => {
      const socket = open({})
      socket.on('open', () => socket.send('{"type":"connection_init"}'))
      socket.once('message', () => socket.send(text))
      expect(await closeCodeOf(socket)).toBe(4400)
      expect(gateway.logged.filter((line) => line.includes('websocket-failed'))).toEqual([])
    },
  )

  test('for an open operation with the same id, however long it is', async () => {
    const id = 'é'.repeat(200)
    const payload = { query: 'subscription { ledgerUpdates { __typename } }' }
    const socket = open({})
    socket.on('open', () => socket.send('{"type":"connection_init"}'))
    socket.once('message', () => {
      for (let i = 0; i < 2; i++) socket.send(JSON.stringify({ type: 'subscribe', id, payload }))
    })
    expect(await closeCodeOf(socket)).toBe(4409)
    expect(gateway.logged.filter((line) => line.includes('websocket-failed'))).toEqual([])
  })

  test.each([
    ['/graphql', 'graphql-transport-ws'],
    ['/api/mqtt/v2', 'mqtt'],
  ])('for a message in too many fragments at %s', async (path, protocol) => {
    const socket = new WebSocket(gateway.url.replace('http', 'ws') + path, protocol)
    await once(socket, 'open')
    for (let i = 0; i <= 1_024; i++) socket.send('x', { fin: false })
    expect(await closeCodeOf(socket)).toBe(1008)
  })

  test('for another subprotocol', async () => {
    expect(await closeCodeOf(open({}, 'graphql-ws'))).toBe(1006)
  })

  test('when the gateway closes, with a code that lets the client reconnect', async () => {
    const closing = await startGateway()
    const socket = open({}, 'graphql-transport-ws', closing.url)
    const code = closeCodeOf(socket)
    await new Promise((resolve) => socket.once('open', resolve))
    await closing.close()
    expect(await code).toBe(1001)
  })
})

test('no other path accepts a WebSocket', async () => {
  const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/health`)
  expect(await closeCodeOf(socket)).toBe(1006)
})

async function resultOf(client: Client, query: string): Promise<unknown> {
  const { value } = await client.iterate({ query }).next()
  return value
}

/** Returns the code of a refusal, whether it arrives as a result or as the end of the operation. */
async function codeOf(client: Client, query: string): Promise<unknown> {
  try {
    const { value } = await client.iterate({ query }).next()
    return value?.errors?.[0]?.extensions?.code
  } catch (errors) {
    return (errors as readonly { extensions?: { code?: unknown } }[])[0]?.extensions?.code
  }
}

function open(
  headers: Record<string, string>,
  protocol = 'graphql-transport-ws',
  url = gateway.url,
): WebSocket {
  return new WebSocket(`${url.replace('http', 'ws')}/graphql`, protocol, { headers })
}

function closeCodeOf(socket: WebSocket): Promise<number> {
  // A refused handshake emits an error first; the close event follows.
  socket.on('error', () => {})
  return new Promise((resolve) => socket.once('close', resolve))
}

interface Message {
  readonly type: string
  readonly payload?: {
    readonly data?: { readonly setChainRecord?: object } | null
    readonly errors?: readonly { readonly extensions: { readonly code: string } }[]
  }
}

/** Sends messages, each after the response to the one before, and returns the responses. */
async function talk(
  headers: Record<string, string>,
  messages: readonly object[],
): Promise<readonly Message[]> {
  const socket = open(headers)
  await new Promise((resolve) => socket.once('open', resolve))
  const responses: Message[] = []
  for (const message of messages) {
    const response = new Promise<string>((resolve) => {
      socket.once('message', (bytes) => resolve(String(bytes)))
    })
    socket.send(JSON.stringify(message))
    responses.push(JSON.parse(await response))
  }
  socket.close()
  return responses
}

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { createSignal } from '../../src/lib/signal.ts'
import type { StoreReader } from '../../src/store/contract.ts'
import { type OpenStream, openStream } from '../support/event-stream.ts'
import { slotOf } from '../support/feed-log.ts'
import { addresses, rowsOf } from '../support/log-store.ts'
import { addressText, type ServedLog, serveLog } from '../support/serve-log.ts'
import { createSettableClock } from '../support/settable-clock.ts'
import { until } from '../support/until.ts'

const [owner = '0x', other = '0x'] = addresses
const query = /* GraphQL */ `
  subscription ($addresses: [String!], $after: String) {
    ledgerUpdates(addresses: $addresses, after: $after) {
      __typename
      ... on FeedOpened { cursor }
      ... on LedgerUpdateBatch { cursor updates { ordinal } }
      ... on FeedProgress { cursor }
      ... on FeedNotice { topic cursor }
    }
  }
`
let gateway: ServedLog

beforeAll(async () => {
  gateway = await serveLog()
  for (let i = 0; i < 3; i++) await gateway.commit(slotOf(owner, other))
  await gateway.known()
})
afterAll(() => gateway.close())

function cursorAt(seq: number): string {
  return gateway.log.cursorAt(seq)
}

function get(variables: object, headers: Record<string, string> = {}, url = gateway.url) {
  const parameters = new URLSearchParams({ query, variables: JSON.stringify(variables) })
  return openStream(`${url}/graphql?${parameters}`, { headers })
}

/** Reads until `count` updates of the owner were received. */
async function ordinals(stream: OpenStream, count: number): Promise<string[]> {
  const received: string[] = []
  while (received.length < count) {
    const event = await stream.next()
    const { updates = [] } = JSON.parse(event?.data ?? '{}').data.ledgerUpdates
    received.push(...updates.map(({ ordinal }: { ordinal: string }) => ordinal))
  }
  return received
}

/** Sends the beginning of a request; `finish` sends the rest. */
async function beginRequest(
  url: string,
  text: string,
  rest: string,
): Promise<{ socket: Socket; finish(): void }> {
  const { port } = new URL(url)
  const socket = connect(Number(port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write(text)
  return { socket, finish: () => void socket.write(rest) }
}

describe('events', () => {
  test('have their cursors as ids, and a client that reconnects with the last one continues after it (3, 11)', async () => {
    const variables = { addresses: [addressText(owner)], after: cursorAt(0) }
    const first = await get(variables)
    expect(first.response.headers.get('content-type')).toMatch(/^text\/event-stream/)
    const opened = await first.next()
    expect(opened).toMatchObject({ id: cursorAt(0), event: 'next' })
    const batch = await first.next()
    expect(batch?.id).toBe(JSON.parse(batch?.data ?? '').data.ledgerUpdates.cursor)
    first.close()
    await gateway.commit(slotOf(owner))
    const again = await get(variables, { 'last-event-id': batch?.id ?? '' })
    expect((await again.next())?.id).toBe(batch?.id)
    const total = rowsOf(gateway.log.rows, owner, 'OWNED').length
    expect(await ordinals(again, 1)).toEqual([String(total)])
    again.close()
    await until(() => gateway.feed.hub.counts().feeds === 0)
  })

  test.each([
    'subscription { ...Feed } fragment Feed on Subscription { ...On }',
    'subscription { ... on Subscription { ... { ...On } } }',
  ])('have their cursors as ids also for %s (3, 11)', async (start) => {
    const field = 'ledgerUpdates { ... on LedgerUpdateBatch { updates { ordinal } } }'
    const document = `${start} fragment On on Subscription { ${field} }`
    const url = `${gateway.url}/graphql?query=${encodeURIComponent(document)}`
    const first = await openStream(url)
    const { id = '' } = (await first.next()) ?? {}
    expect(id).toBe(cursorAt(gateway.log.rows.length))
    first.close()
    await until(() => gateway.feed.hub.counts().feeds === 0)
    await gateway.commit(slotOf(owner))
    await gateway.known()
    const again = await openStream(url, { headers: { 'last-event-id': id } })
    expect((await again.next())?.id).toBe(id)
    const total = rowsOf(gateway.log.rows, owner, 'OWNED').length
    expect(await again.result()).toEqual({
      data: { ledgerUpdates: { updates: [{ ordinal: String(total) }] } },
    })
    again.close()
    await until(() => gateway.feed.hub.counts().feeds === 0)
  })

  test('have no ids before the snapshot is complete, so that a client that is cut earlier gets all of it (11, 17)', async () => {
    const reading = createSignal()
    const changed = (read: StoreReader): StoreReader => ({
      ...read,
      unspentOutputs: async (page) => {
        await reading.wait()
        return await read.unspentOutputs(page)
      },
    })
    const own = await serveLog({ changed })
    const document = `subscription ($addresses: [String!]) {
      ledgerUpdates(addresses: $addresses, snapshot: true) {
        __typename ... on FeedSnapshot { isLast } ... on LedgerUpdateBatch { cursor }
      }
    }`
    const variables = JSON.stringify({ addresses: [addressText(owner)] })
    const parameters = new URLSearchParams({ query: document, variables })
    const stream = await openStream(`${own.url}/graphql?${parameters}`)
    const received: unknown[] = []
    const receive = async () => {
      const { id, data = '' } = (await stream.next()) ?? {}
      received.push([JSON.parse(data).data.ledgerUpdates.__typename, id])
    }
    await receive()
    await own.feed.hub.emitToAll({ topic: 'DRAINING', closesWithinMs: 5 })
    await receive()
    reading.notify()
    await receive()
    const cursor = own.log.cursorAt(0)
    expect(received).toEqual([
      ['FeedOpened', undefined],
      ['FeedNotice', undefined],
      ['FeedSnapshot', cursor],
    ])
    stream.close()
    await own.close()
  })

  test('are not shared by a client that omits a variable and one that sends null for it', async () => {
    const open = async (variables: object) => {
      const parameters = new URLSearchParams({
        query: `subscription ($full: Boolean = true) {
          ledgerUpdates { __typename ... on FeedOpened @include(if: $full) { cursor } }
        }`,
        variables: JSON.stringify(variables),
      })
      return await openStream(`${gateway.url}/graphql?${parameters}`, {})
    }
    const refused = await open({ full: null })
    expect((await refused.result()).errors).toBeDefined()
    const other = await open({})
    const { data, errors } = await other.result()
    expect(errors).toBeUndefined()
    expect(data).toMatchObject({ ledgerUpdates: { cursor: expect.any(String) } })
    for (const stream of [refused, other]) stream.close()
    await until(() => gateway.feed.hub.counts().feeds === 0)
  })

  test('are sent whatever the case of the Accept header', async () => {
    const stream = await get({}, { accept: 'Text/Event-Stream' })
    expect((await stream.next())?.id).toBe(cursorAt(gateway.log.rows.length))
    stream.close()
    await until(() => gateway.feed.hub.counts().feeds === 0)
  })

  test('are sent by POST as well, and shared with other transports', async () => {
    const stream = await openStream(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables: { addresses: [addressText(owner)] } }),
    })
    const second = await get({ addresses: [addressText(owner)] })
    for (const one of [stream, second]) expect((await one.result()).data).toBeDefined()
    await until(() => gateway.feed.hub.counts().live === 2)
    expect(gateway.feed.hub.counts().streams).toBe(1)
    await gateway.commit(slotOf(owner))
    const total = String(rowsOf(gateway.log.rows, owner, 'OWNED').length)
    for (const one of [stream, second]) expect(await ordinals(one, 1)).toEqual([total])
    for (const one of [stream, second]) one.close()
    await until(() => gateway.feed.hub.counts().feeds === 0)
  })

  test.each<[string, string, RequestInit?]>([
    ['by GET', '?query={__typename}'],
    ['with empty parameters', '?query={__typename}&variables=&extensions=&operationName='],
    [
      'as a document without JSON',
      '',
      {
        method: 'POST',
        headers: { 'content-type': 'application/graphql' },
        body: '{ __typename }',
      },
    ],
  ])('of a query %s are its result and the event complete', async (_name, parameters, init) => {
    const stream = await openStream(`${gateway.url}/graphql${parameters}`, init)
    expect(await stream.result()).toEqual({ data: { __typename: 'Query' } })
    expect(await stream.next()).toMatchObject({ event: 'complete' })
    expect(await stream.next()).toBeUndefined()
  })

  test('are sent to a client that lists JSON first, as urql does, only for a subscription', async () => {
    const accept =
      'application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed'
    const post = { accept, 'content-type': 'application/json' }
    const posted = (text: string) => {
      return { method: 'POST', headers: post, body: JSON.stringify({ query: text }) }
    }
    for (const [parameters, init] of [
      ['?query={__typename}', { headers: { accept } }],
      ['', posted('{ __typename }')],
    ] as const) {
      const response = await fetch(`${gateway.url}/graphql${parameters}`, init)
      expect(response.headers.get('content-type')).toMatch(/^application\/graphql-response\+json/)
      expect(await response.json()).toEqual({ data: { __typename: 'Query' } })
    }
    for (const stream of [
      await get({}, { accept }),
      await openStream(`${gateway.url}/graphql`, posted(query)),
    ]) {
      expect(stream.response.headers.get('content-type')).toMatch(/^text\/event-stream/)
      expect((await stream.result()).data.ledgerUpdates.__typename).toBe('FeedOpened')
      stream.close()
    }
    await until(() => gateway.feed.hub.counts().feeds === 0)
  })

  test('are sent to a client that lists JSON first also for the hash of a subscription, and for no query', async () => {
    const headers = {
      accept: 'application/graphql-response+json, application/json, text/event-stream',
      'content-type': 'application/json',
    }
    const send = (request: object) => {
      const init = { method: 'POST', headers, body: JSON.stringify(request) }
      return openStream(`${gateway.url}/graphql`, init)
    }
    const sha256Hash = createHash('sha256').update(query).digest('hex')
    const extensions = { persistedQuery: { version: 1, sha256Hash } }
    const unknown = await send({ extensions })
    expect((await unknown.response.json()).errors[0].message).toBe('PersistedQueryNotFound')
    const parameters = new URLSearchParams({ extensions: JSON.stringify(extensions) })
    for (const stream of [
      await send({ query, extensions }),
      await send({ extensions }),
      await openStream(`${gateway.url}/graphql?${parameters}`, { headers }),
    ]) {
      expect((await stream.result()).data.ledgerUpdates.__typename).toBe('FeedOpened')
      stream.close()
    }
    for (const request of [
      { query: '{ search(text: "subscription") { message } }' },
      { query: '{ __typename }', variables: { text: 'subscription' } },
      {
        query: `query Q { __typename } ${query.replace('subscription', 'subscription S')}`,
        operationName: 'Q',
      },
      { query: 'subscription {' },
    ]) {
      const { response } = await send(request)
      expect(response.headers.get('content-type')).toMatch(/^application\/graphql-response\+json/)
    }
    await until(() => gateway.feed.hub.counts().feeds === 0)
  })

  test('have only a head in response to HEAD, which begins no feed', async () => {
    const document = encodeURIComponent('subscription { ledgerUpdates { __typename } }')
    for (const accept of ['text/event-stream', 'application/json, text/event-stream']) {
      const init = { method: 'HEAD', headers: { accept } }
      const { status, headers } = await fetch(`${gateway.url}/graphql?query=${document}`, init)
      expect([status, headers.get('content-type')]).toEqual([
        200,
        'text/event-stream; charset=utf-8',
      ])
    }
    const headers = { accept: 'application/json, text/event-stream' }
    const asked = await fetch(`${gateway.url}/graphql?query={__typename}`, {
      method: 'HEAD',
      headers,
    })
    expect(asked.headers.get('content-type')).toMatch(/^application\/json/)
    const mutation = encodeURIComponent(
      'mutation { requestFromFaucet(address: "x") { waitingRequests } }',
    )
    const refused = await fetch(`${gateway.url}/graphql?query=${mutation}`, {
      method: 'HEAD',
      headers: { accept: 'text/event-stream' },
    })
    expect(refused.status).toBe(405)
    expect(gateway.feed.hub.counts().feeds).toBe(0)
  })

  test('of a refused feed are the error and the event complete (5)', async () => {
    const stream = await get({ after: 'x' })
    expect((await stream.result()).errors).toMatchObject([
      { path: ['ledgerUpdates'], extensions: { code: 'CURSOR_MALFORMED' } },
    ])
    expect(await stream.next()).toMatchObject({ event: 'complete' })
  })
})

describe('a stream is refused', () => {
  const rows: [string, Record<string, string>, number, string][] = [
    ['for a malformed document', { query: '{' }, 400, 'GRAPHQL_PARSE_FAILED'],
    ['for an unknown field', { query: '{ nothing }' }, 400, 'GRAPHQL_VALIDATION_FAILED'],
    ['without a document', {}, 400, 'QUERY_PARAMETER_MALFORMED'],
    [
      'for an unknown operation',
      { query: '{ __typename }', operationName: 'A' },
      400,
      'OPERATION_RESOLUTION_FAILURE',
    ],
    [
      'for variables that are not an object',
      { query: '{ __typename }', variables: '[]' },
      400,
      'QUERY_PARAMETER_MALFORMED',
    ],
    [
      'for variables that are not JSON',
      { query: '{ __typename }', variables: '{' },
      400,
      'QUERY_PARAMETER_MALFORMED',
    ],
    [
      'for a mutation by GET',
      {
        query:
          'mutation { setChainRecord(chainId: "x", record: { accessNodes: [], isActive: true }) { setBy } }',
      },
      405,
      'METHOD_NOT_ALLOWED',
    ],
  ]
  test.each(rows)('%s', async (_name, parameters, status, code) => {
    const { response } = await openStream(
      `${gateway.url}/graphql?${new URLSearchParams(parameters)}`,
    )
    expect(response.status).toBe(status)
    const { errors } = JSON.parse(await response.text())
    expect(errors).toMatchObject([{ extensions: { code } }])
  })

  test('with an invalid token (15)', async () => {
    const { response } = await get({}, { authorization: 'Bearer none' })
    expect(response.status).toBe(401)
  })

  test.each(['*/*', 'application/json', 'application/graphql-response+json'])(
    'for a request that accepts only %s',
    async (accept) => {
      const headers = { accept, 'content-type': 'application/json' }
      const body = JSON.stringify({ query })
      const response = await fetch(`${gateway.url}/graphql`, { method: 'POST', headers, body })
      const { errors } = JSON.parse(await response.text())
      expect(errors[0].extensions.code).toBe('EVENTS_NOT_ACCEPTED')
      expect(gateway.feed.tail.counts().watchers).toBe(0)
    },
  )

  test('over the limit of connections, before any work (14)', async () => {
    const full = await serveLog({ limits: { connections: 0 } })
    const { response } = await get({ after: 'x' }, {}, full.url)
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
    await full.close()
  })

  test('over the limit of connections, also when many requests are read at the same time (14)', async () => {
    const few = await serveLog({ limits: { connections: 2 } })
    const body = JSON.stringify({ query })
    const head = [
      'POST /graphql HTTP/1.1',
      'host: x',
      'accept: text/event-stream',
      'content-type: application/json',
      `content-length: ${body.length}`,
      '',
      '',
    ].join('\r\n')
    const requests = await Promise.all(
      Array.from({ length: 6 }, () =>
        beginRequest(few.url, head + body.slice(0, 10), body.slice(10)),
      ),
    )
    // All requests are being read once a later one was answered.
    expect((await get({ after: 'x' }, {}, few.url)).response.status).toBe(200)
    for (const { finish } of requests) finish()
    const responses = await Promise.all(
      requests.map(async ({ socket }) => String((await once(socket, 'data'))[0]).slice(9, 12)),
    )
    expect(responses.toSorted()).toEqual(['200', '200', '503', '503', '503', '503'])
    for (const { socket } of requests) socket.destroy()
    await few.close()
  })
})

test('a client that disconnects before its stream begins leaves no feed', async () => {
  const few = await serveLog({ limits: { connections: 5 } })
  const token = await few.token()
  const parameters = new URLSearchParams({ query })
  const head = `GET /graphql?${parameters} HTTP/1.1\r\nhost: x\r\naccept: text/event-stream\r\n`
  for (let i = 0; i < 20; i++) {
    const { socket, finish } = await beginRequest(few.url, head, `authorization: ${token}\r\n\r\n`)
    finish()
    setImmediate(() => socket.resetAndDestroy())
    await once(socket, 'close')
  }
  await until(() => few.feed.hub.counts().feeds === 0)
  const stream = await get({}, {}, few.url)
  expect(stream.response.status).toBe(200)
  stream.close()
  await few.close()
})

test('a client that disconnects ends a subscription that it shares with nobody', async () => {
  const own = await serveLog()
  const { tail } = own.feed
  const { watchTip } = tail
  let watches = 0
  const counting: typeof watchTip = (notify) => {
    const stop = watchTip(notify)
    watches++
    return () => {
      watches--
      stop()
    }
  }
  Object.assign(tail, { watchTip: counting })
  const stream = await openStream(
    `${own.url}/graphql?query=${encodeURIComponent('subscription { milestones { index } }')}`,
  )
  await until(() => watches === 1)
  stream.close()
  await until(() => watches === 0)
  await own.close()
})

test('a stream ends with its token, after a notice (15)', async () => {
  const clock = createSettableClock(systemClock.nowNs())
  const own = await serveLog({ clock })
  const stream = await get({}, { authorization: await own.token() }, own.url)
  await stream.next()
  clock.advance(3_590_000_000_000n)
  expect((await stream.result()).data.ledgerUpdates).toMatchObject({ topic: 'TOKEN_EXPIRING' })
  clock.advance(11_000_000_000n)
  expect(await stream.next()).toBeUndefined()
  await own.close()
})

test('a gateway that stops sends the cursor and ends the stream (8)', async () => {
  const own = await serveLog()
  const stream = await get({}, {}, own.url)
  const { cursor } = (await stream.result()).data.ledgerUpdates
  const drained = own.drain(10)
  const notice = { __typename: 'FeedNotice', topic: 'DRAINING', cursor }
  expect((await stream.result()).data.ledgerUpdates).toEqual(notice)
  expect(await stream.next()).toBeUndefined()
  await drained
  await own.close()
})

test('a quiet stream sends comments, so that no client or proxy takes it for broken (12)', async () => {
  const own = await serveLog({ limits: { heartbeatMs: 110 } })
  const document = encodeURIComponent('subscription { milestones { index } }')
  const { response, close } = await openStream(`${own.url}/graphql?query=${document}`)
  const reader = present(response.body, 'a stream').getReader()
  const decoder = new TextDecoder()
  let text = ''
  while (text.length < 6) text += decoder.decode((await reader.read()).value)
  expect(text).toBe(':\n\n:\n\n')
  close()
  await own.close()
})

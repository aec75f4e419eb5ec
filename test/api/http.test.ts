import { once } from 'node:events'
import { createConnection } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defaultLimits } from '../../src/api/limits.ts'
import { openTransports } from '../../src/gateway.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLog } from '../../src/lib/log.ts'
import { chainIdOf } from '../support/chain-ids.ts'
import { graphql, socketClient } from '../support/client.ts'
import { onDatabase } from '../support/databases.ts'
import { rest } from '../support/rest.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

describe('every response', () => {
  const rows = [
    ['of a route', '/health'],
    ['of an unknown path', '/nowhere'],
    ['of GraphQL', '/graphql?query=%7B__typename%7D'],
  ] as const
  test.each(rows)(
    '%s has a request id, and every page may read it without cookies',
    async (_name, path) => {
      const ask = path.startsWith('/graphql') ? fetch : rest
      const { headers } = await ask(gateway.url + path, {
        headers: { origin: 'http://a.example' },
      })
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
      expect(headers.get('access-control-allow-origin')).toBe('*')
      expect(headers.get('access-control-allow-credentials')).toBeNull()
    },
  )

  test.each(['/health', '/graphql', '/v1/chains/x/chainrecord'])(
    'to a preflight of %s allows the method and the headers',
    async (path) => {
      const response = await rest(gateway.url + path, {
        method: 'OPTIONS',
        headers: {
          origin: 'http://a.example',
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization,content-type',
        },
      })
      expect(response.status).toBe(204)
      expect(response.headers.get('access-control-allow-methods')).toContain('POST')
      expect(response.headers.get('access-control-allow-headers')).toBe(
        'authorization,content-type',
      )
      expect(response.headers.get('access-control-allow-credentials')).toBeNull()
    },
  )
})

test('a media type may have capitals', async () => {
  const response = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'Application/JSON; charset=UTF-8' },
    body: '{"query":"{ __typename }"}',
  })
  expect([response.status, await response.json()]).toEqual([200, { data: { __typename: 'Query' } }])
})

test('a response as multipart/mixed has a length and no other framing', async () => {
  const response = await fetch(`${gateway.url}/graphql?query=%7B__typename%7D`, {
    headers: { accept: 'multipart/mixed' },
  })
  expect(response.status).toBe(200)
  expect(response.headers.get('transfer-encoding')).toBeNull()
  expect(await response.text()).toContain('{"data":{"__typename":"Query"}}')
})

test('an idle connection stays open for longer than those of balancers', async () => {
  const { headers } = await rest(`${gateway.url}/health`)
  const [, seconds] = /^timeout=(\d+)$/.exec(headers.get('keep-alive') ?? '') ?? []
  expect(Number(seconds)).toBeGreaterThan(60)
})

describe('REST refuses with a REST error', () => {
  const rows = [
    ['an unknown path', 'GET', '/nowhere', 404],
    ['the root', 'GET', '/', 404],
    ['a wrong method', 'POST', '/health', 405],
    ['a method without a route', 'PATCH', '/health', 405],
    ['an incomplete percent encoding', 'GET', '/%', 400],
    ['an unknown query parameter', 'GET', '/health?verbose=1', 400],
  ] as const
  test.each(rows)('%s: %s %s has the status %i', async (_name, method, path, status) => {
    const response = await rest(gateway.url + path, { method })
    expect(response.status).toBe(status)
    expect(await response.json()).toEqual({ error: { code: status, message: expect.any(String) } })
    expect(response.headers.get('allow')).toBe(status === 405 ? 'GET, HEAD, OPTIONS' : null)
  })

  const heads = [
    ['a request without Host', 'GET /health HTTP/1.1', 'the header Host is missing'],
    [
      'a request with two Hosts',
      'GET /health HTTP/1.1\r\nHost: a\r\nhost: b',
      'the header Host is repeated',
    ],
    [
      'an upgrade with two Hosts',
      'GET /graphql HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: upgrade\r\nUpgrade: websocket',
      'the header Host is repeated',
    ],
    [
      'an unknown expectation',
      'POST /api/core/v3/blocks HTTP/1.1\r\nHost: x\r\nExpect: cake\r\nContent-Length: 2',
      'the header Expect supports only 100-continue',
    ],
  ] as const
  test.each(heads)('%s', async (_name, head, reason) => {
    const [status = '', body = ''] = (await sendHead(gateway.url, head)).split('\r\n\r\n')
    expect(status).toMatch(/^HTTP\/1\.1 400 /)
    expect(JSON.parse(body)).toEqual({
      error: { code: 400, message: `the request is not valid HTTP: ${reason}` },
    })
  })

  test('an HTTP/1.0 request without Host only for its path', async () => {
    const response = await sendHead(gateway.url, 'GET /nowhere HTTP/1.0')
    expect(response).toContain('the path /nowhere does not exist"')
  })

  test('an absolute URL by its path', async () => {
    const response = await sendLine(
      gateway.url,
      'GET http://elsewhere.example/nowhere?a=b HTTP/1.1',
    )
    expect(response).toContain('the path /nowhere does not exist"')
  })
})

describe('GraphQL refuses with a code', () => {
  const rows = [
    ['a malformed document', '{', {}, 'GRAPHQL_PARSE_FAILED'],
    ['an unknown field', '{ nothing }', {}, 'GRAPHQL_VALIDATION_FAILED'],
    [
      'a variable of the wrong type',
      'query ($n: Int!) { chainRecords(first: $n) { nodes { version } } }',
      { n: 'x' },
      'BAD_USER_INPUT',
    ],
    ['an empty document', '', {}, 'GRAPHQL_PARSE_FAILED'],
  ] as const
  test.each(rows)('%s', async (_name, query, variables, code) => {
    const { errors } = await graphql(gateway.url, query, variables)
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual([code])
  })

  test.each([
    ['of a scalar', '{ milestones(first: "x") { __typename } }', 'first'],
    ['of an enum', '{ milestones(sort: NEWST) { __typename } }', 'sort'],
    ['of a list', '{ outputs(filter: { kinds: [BASIC, 1] }) { __typename } }', 'filter.kinds'],
    ['of an id', '{ block(id: "0x") { __typename } }', 'id'],
    ['of a directive', '{ __typename @include(if: 1) }', 'if'],
    ['of a default', 'query ($n: Int = "x") { milestones(first: $n) { __typename } }', '$n'],
  ])(
    'a literal %s that does not match its type, with its argument',
    async (_of, query, argument) => {
      const { errors } = await graphql(gateway.url, query)
      expect(errors?.map(({ extensions }) => extensions)).toEqual([
        { code: 'BAD_USER_INPUT', argument },
      ])
      expect(errors?.[0]?.message).toMatch(`${argument}: `)
    },
  )

  test.each([
    ['a text that is no query', '{"query":5}'],
    ['an unknown member', '{"x":5}'],
    ['a list', '[]'],
    ['no operation name', '{"query":"query A { __typename } query B { __typename }"}'],
  ])('%s, with a value of ErrorCode', async (_name, body) => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${gateway.url}/graphql`, { method: 'POST', headers, body })
    const { errors } = await response.json()
    const list = '{ __type(name: "ErrorCode") { enumValues { name } } }'
    const { data } = await graphql(gateway.url, list)
    const known = data.__type.enumValues.map(({ name }: { name: string }) => name)
    expect(known).toContain(errors[0].extensions.code)
  })

  const types = ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain']
  test.each(types)('%s, which a foreign page could send', async (type) => {
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': type },
      body: 'query={__typename}',
    })
    const { errors } = await response.json()
    expect([response.status, errors[0].extensions.code]).toEqual([415, 'CONTENT_TYPE_REFUSED'])
  })

  test('a compressed body', async () => {
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      body: 'x',
    })
    const { errors } = await response.json()
    expect([response.status, errors?.[0].extensions.code]).toEqual([
      415,
      'CONTENT_ENCODING_REFUSED',
    ])
  })

  test('another method', async () => {
    const response = await fetch(`${gateway.url}/graphql`, { method: 'PUT', body: 'x' })
    const { errors } = await response.json()
    expect([response.status, errors[0].extensions.code]).toEqual([405, 'METHOD_NOT_ALLOWED'])
    expect(response.headers.get('allow')).toBe('GET, HEAD, POST, OPTIONS')
  })

  test.each(['application/xml', 'text/html', 'application/json;charset=latin1'])(
    'an operation whose client accepts only %s, which does not run',
    async (accept) => {
      const chainId = chainIdOf(106)
      const authorization = await gateway.token('chain-record:write')
      const query = `mutation {
        setChainRecord(chainId: "${chainId}", record: { accessNodes: [], isActive: true }) { version } }`
      const response = await fetch(`${gateway.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept, authorization },
        body: JSON.stringify({ query }),
      })
      const { errors } = await response.json()
      expect([response.status, errors[0].extensions.code]).toEqual([406, 'NOT_ACCEPTABLE'])
      const record = `{ chainRecord(chainId: "${chainId}") { version } }`
      expect((await graphql(gateway.url, record)).data).toEqual({ chainRecord: null })
    },
  )

  test('nothing of a body in too many chunks, whose connection is closed', async () => {
    const socket = createConnection(Number(new URL(gateway.url).port))
    socket.on('error', () => {})
    const head = 'POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
    socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n${'1\r\n \r\n'.repeat(32_769)}0\r\n\r\n`)
    let received = ''
    socket.on('data', (bytes) => {
      received += bytes
    })
    await once(socket, 'close')
    expect(received).toBe('')
  })

  test.each(['POST', 'GET'])(
    'a %s without a document, whatever its client accepts',
    async (method) => {
      for (const accept of ['application/json', 'application/graphql-response+json']) {
        const headers = { 'content-type': 'application/json', accept }
        const body = method === 'GET' ? null : '{}'
        const response = await fetch(`${gateway.url}/graphql`, { method, headers, body })
        const { errors } = await response.json()
        expect([response.status, errors[0].extensions.code]).toEqual([400, 'BAD_REQUEST'])
      }
    },
  )

  test('a mutation by GET', async () => {
    const query = encodeURIComponent('mutation { __typename }')
    const response = await fetch(`${gateway.url}/graphql?query=${query}`)
    expect(response.status).toBe(405)
  })

  const read = 'query ($n: Int!) { chainRecords(first: $n) { nodes { version } } }'
  test.each([
    ['a variable of the wrong type', { query: read, variables: { n: 'x' } }, 'BAD_USER_INPUT', 400],
    ['no value for a variable', { query: read }, 'BAD_USER_INPUT', 400],
    [
      'a subscription',
      { query: 'subscription { milestones { index } }' },
      'EVENTS_NOT_ACCEPTED',
      406,
    ],
    ['an unknown field', { query: '{ nothing }' }, 'GRAPHQL_VALIDATION_FAILED', 400],
  ])('%s, with a status only in its own media type', async (_name, body, code, status) => {
    for (const [accept, expected] of [
      ['application/graphql-response+json', status],
      ['application/json', 200],
    ] as const) {
      const headers = { 'content-type': 'application/json', accept }
      const init = { method: 'POST', headers, body: JSON.stringify(body) }
      const response = await fetch(`${gateway.url}/graphql`, init)
      const { data, errors } = await response.json()
      expect([response.status, data, errors.length]).toEqual([expected, undefined, 1])
      const { http, ...extensions } = errors[0].extensions
      expect([extensions.code, http]).toEqual([code, undefined])
    }
  })

  test.each(['variables', 'extensions'])('%s by GET that are not JSON', async (name) => {
    const parameters = new URLSearchParams({ query: '{ __typename }', [name]: 'x' })
    const response = await fetch(`${gateway.url}/graphql?${parameters}`)
    const { errors } = await response.json()
    expect([response.status, errors]).toEqual([
      400,
      [
        {
          message: `query: ${name} must be a JSON object`,
          extensions: { code: 'QUERY_PARAMETER_MALFORMED', name, expected: 'a JSON object' },
        },
      ],
    ])
  })

  test('a body over the limit', async () => {
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: `{ __typename } #${'x'.repeat(1_048_576)}` }),
    })
    expect(response.status).toBe(413)
  })
})

describe('a broken store causes one INTERNAL with a request id, and the stack is in the log alone', () => {
  let broken: TestGateway

  beforeAll(async () => {
    broken = await startGateway()
    await onDatabase(broken.databaseUrl, 'DROP TABLE chain_records')
  })
  afterAll(() => broken.close())

  test('on REST', async () => {
    const response = await rest(`${broken.url}/v1/chains/${chainIdOf(1)}/chainrecord`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: await broken.token('chain-record:write'),
      },
      body: '{"accessNodes":[],"isActive":true}',
    })
    const requestId = response.headers.get('x-request-id') ?? ''
    expect([response.status, await response.json()]).toEqual([
      500,
      { error: { code: 500, message: `internal server error (request ${requestId})` } },
    ])
    expect(stackOf(requestId)).toContain(' at ')
  })

  test('on GraphQL', async () => {
    const { data, errors } = await graphql(broken.url, query)
    const requestId = String(errors?.[0]?.extensions.requestId)
    expect({ data, errors }).toEqual({
      data: { chainRecord: null },
      errors: [
        {
          message: `internal server error (request ${requestId})`,
          locations: [{ line: 1, column: 3 }],
          path: ['chainRecord'],
          extensions: { code: 'INTERNAL', requestId },
        },
      ],
    })
    expect(stackOf(requestId)).toContain(' at ')
  })

  test('on WebSocket', async () => {
    const client = socketClient(broken.url)
    const results = []
    for await (const result of client.iterate({ query })) results.push(result)
    await client.dispose()
    expect(results).toMatchObject([{ errors: [{ extensions: { code: 'INTERNAL' } }] }])
    const requestId = String(results[0]?.errors?.[0]?.extensions?.requestId)
    expect(stackOf(requestId)).toContain(' at ')
  })

  const query = `{ chainRecord(chainId: "${chainIdOf(1)}") { version } }`

  function stackOf(requestId: string): string {
    const isFailure = (text: string) => text.includes('request-failed') && text.includes(requestId)
    const line = broken.logged.find(isFailure) ?? '{}'
    return JSON.parse(line).error?.stack ?? ''
  }
})

test('a port in use is a returned error, not an exception', async () => {
  const other = await startGateway()
  const { port } = new URL(gateway.url)
  const auth = { key: other.key, clock: systemClock }
  const deps = { services: {}, auth, limits: defaultLimits, log: silentLog }
  // The services are not used before the server listens, and it never does.
  const opened = await openTransports(deps as unknown as Parameters<typeof openTransports>[0], {
    host: '127.0.0.1',
    port: Number(port),
  })
  expect(opened.ok ? undefined : opened.error).toEqual({
    code: 'CANNOT_LISTEN',
    host: '127.0.0.1',
    port: Number(port),
    reason: 'EADDRINUSE',
  })
  await other.close()
})

/** Sends a request line that no client would send, and returns the response. */
function sendLine(url: string, line: string): Promise<string> {
  return sendHead(url, `${line}\r\nHost: ${new URL(url).hostname}`)
}

/** Sends a head that no client would send, and returns the response. */
function sendHead(url: string, head: string): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = createConnection({ host: hostname, port: Number(port) })
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('end', () => resolve(text))
    socket.on('error', reject)
    socket.write(`${head}\r\nConnection: close\r\n\r\n`)
  })
}

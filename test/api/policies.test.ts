import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { encodeBech32 } from '../../src/protocol/bech32.ts'
import { graphql, socketClient } from '../support/client.ts'
import { writeGenesis } from '../support/genesis-gateway.ts'
import { rest } from '../support/rest.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'

/** Policies of an operator for browsers and unknown clients. */

/** Sends a request with any Host, which `fetch` does not do. */
async function send(url: string, headers: Record<string, string>, body?: string | Uint8Array) {
  const method = body === undefined ? 'GET' : 'POST'
  const outgoing = request(url, { method, headers }).end(body)
  const [response]: IncomingMessage[] = (await once(outgoing, 'response')) as [IncomingMessage]
  if (response === undefined) throw new Error('no response')
  return { status: response.statusCode, headers: response.headers, body: await text(response) }
}

/** Opens a WebSocket as a page of an origin does; returns the status of a refusal. */
async function openedFrom(url: string, origin: string | undefined): Promise<number | 'open'> {
  const protocol = url.includes('mqtt') ? 'mqtt' : 'graphql-transport-ws'
  const socket = new WebSocket(url.replace(/^http/, 'ws'), protocol, {
    ...(origin !== undefined && { origin }),
  })
  const refused = once(socket, 'unexpected-response').then(
    ([, response]: IncomingMessage[]) => response?.statusCode ?? 0,
  )
  const opened = once(socket, 'open').then(() => 'open' as const)
  try {
    return await Promise.race([opened, refused])
  } finally {
    socket.on('error', () => {})
    socket.terminate()
  }
}

/** An operation of the OpenAPI document. */
interface Declared {
  readonly responses?: Readonly<Record<string, { readonly headers?: Readonly<object> }>>
}

describe('with allowed origins', () => {
  const allowed = 'https://explorer.example'
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway({ env: { ALLOWED_ORIGINS: `${allowed},http://b.example:8080` } })
  })
  afterAll(() => gateway.close())

  test('their pages may read every declared response header', async () => {
    const { headers, body } = await send(`${gateway.url}/openapi.json`, { origin: allowed })
    const paths: readonly Record<string, Declared>[] = Object.values(JSON.parse(body).paths)
    const declared = paths
      .flatMap((path) => Object.values(path))
      .flatMap(({ responses = {} }) => Object.values(responses))
      .flatMap((response) => Object.keys(response.headers ?? {}))
    // Headers that every page may read, or that browsers evaluate themselves.
    const others =
      /^(access-control-.*|.*-encoding|cache-control|vary|www-authenticate|x-content-.*)$/
    const read = [...new Set(declared)].filter((name) => !others.test(name))
    expect(read).toContain('x-kept-from-milestone')
    expect(headers['access-control-expose-headers']?.split(', ')).toEqual(read.toSorted())
  })

  const events = 'text/event-stream'
  test.each([
    ['/health'],
    ['/graphql?query=%7B__typename%7D'],
    ['/nowhere'],
    ['/openapi.json'],
    ['/graphql?query=%7B__typename%7D', events],
    ['/graphql', events],
    ['/graphql?query=%7Bnothing%7D', events],
  ])('only their pages may read %s', async (path, accept = '*/*') => {
    const corsOf = async (origin: string) => {
      const { headers } = await send(gateway.url + path, { origin, accept })
      return [headers['access-control-allow-origin'], /\borigin\b/.test(headers.vary ?? '')]
    }
    expect(await corsOf(allowed)).toEqual([allowed, true])
    expect(await corsOf('http://b.example:8080')).toEqual(['http://b.example:8080', true])
    expect(await corsOf('http://b.example')).toEqual([undefined, true])
    expect(await corsOf('null')).toEqual([undefined, true])
  })

  test('a preflight of another page allows nothing', async () => {
    const options = async (origin: string) =>
      (await fetch(`${gateway.url}/graphql`, { method: 'OPTIONS', headers: { origin } })).headers
    expect((await options(allowed)).get('access-control-allow-methods')).toContain('POST')
    expect((await options('https://c.example')).get('access-control-allow-methods')).toBeNull()
  })

  test.each(['/graphql', '/api/mqtt/v2'])('their pages may open WebSockets at %s', async (path) => {
    const at = (origin?: string) => openedFrom(gateway.url + path, origin)
    expect(await at('https://c.example')).toBe(403)
    expect(await at('null')).toBe(403)
    for (const origin of [allowed, gateway.url, undefined]) expect(await at(origin)).not.toBe(403)
  })
})

test('on a network other than the development network, pages of other origins may not read', async () => {
  const genesis = writeGenesis([])
  const { parameters, ...rest } = JSON.parse(readFileSync(genesis.path, 'utf8'))
  const other = { ...rest, parameters: { ...parameters, networkName: 'other' } }
  writeFileSync(genesis.path, JSON.stringify(other))
  const gateway = await startGateway({ env: { GENESIS_FILE: genesis.path } })
  try {
    const { headers } = await send(`${gateway.url}/health`, { origin: 'https://c.example' })
    expect(headers['access-control-allow-origin']).toBeUndefined()
    expect(await openedFrom(`${gateway.url}/graphql`, 'https://c.example')).toBe(403)
  } finally {
    await gateway.close()
    genesis.remove()
  }
})

test('with allowed hosts, a gateway refuses all other host names, except in health checks', async () => {
  const env = { ALLOWED_HOSTS: 'Gateway.example, localhost,[::1]' }
  const gateway = await startGateway({ env })
  try {
    const by = async (host: string, path = '/openapi.json') =>
      (await send(`${gateway.url}${path}`, { host })).status
    for (const host of ['gateway.example', 'GATEWAY.example:443', 'localhost:4000', '[::1]:4000']) {
      expect(await by(host)).toBe(200)
    }
    for (const host of ['evil.example', 'gateway.example.evil', '127.0.0.1', '[::2]:4000']) {
      expect(await by(host)).toBe(421)
      // Load balancers and supervisors check the health by the address of the gateway.
      expect(await by(host, '/health/live')).toBe(200)
      for (const path of ['/health', '/health/ready'])
        expect([200, 503]).toContain(await by(host, path))
    }
    // By its IP address, which is not among the allowed hosts.
    expect(await openedFrom(`${gateway.url}/graphql`, undefined)).toBe(421)
  } finally {
    await gateway.close()
  }
})

describe('without introspection', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway({
      env: { INTROSPECTION: 'off', GRAPHIQL: 'off', EXPLORER: 'off' },
    })
  })
  afterAll(() => gateway.close())

  test.each([
    '{ __schema { types { name } } }',
    '{ a: __type(name: "Query") { name } }',
    '{ ... on Query { ...F } } fragment F on Query { __schema { types { name } } }',
  ])('the schema is not returned for %s', async (query) => {
    const { errors } = await graphql(gateway.url, query)
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['INTROSPECTION_OFF'])
    const client = socketClient(gateway.url)
    await expect(client.iterate({ query }).next()).rejects.toMatchObject([
      { extensions: { code: 'INTROSPECTION_OFF' } },
    ])
    await client.dispose()
  })

  test('names are not suggested, and data is returned', async () => {
    const { errors } = await graphql(gateway.url, '{ milestons { nodes { index } } }')
    expect(errors?.[0]?.message).toBe('Cannot query field "milestons" on type "Query".')
    const query = 'query ($sort: Sort) { milestones(sort: $sort, first: 1) { nodes { index } } }'
    const wrong = await graphql(gateway.url, query, { sort: 'NEWST' })
    expect(wrong.errors?.[0]?.message).toMatch(/does not exist in "Sort" enum\.$/)
    expect(
      (await graphql(gateway.url, '{ __typename milestone { index } }')).errors,
    ).toBeUndefined()
  })

  test('names are removed without a search from each place of a value that looks like a suggestion', async () => {
    const query = 'query ($i: Int) { milestones(first: $i) { __typename } }'
    const { errors } = await graphql(gateway.url, query, { i: ' Did you mean '.repeat(45_000) })
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }])
  })

  test('neither GraphiQL nor the explorer is served', async () => {
    const headers = { accept: 'text/html' }
    expect((await send(`${gateway.url}/`, headers)).status).toBe(404)
    expect((await send(`${gateway.url}/graphql`, headers)).body).not.toContain('<html')
  })
})

describe('on a development network', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.close())

  test('a name is suggested, and any page may open a WebSocket', async () => {
    const { errors } = await graphql(gateway.url, '{ milestons { nodes { index } } }')
    expect(errors?.[0]?.message).toContain('Did you mean "milestone')
    expect(await openedFrom(`${gateway.url}/graphql`, 'https://c.example')).toBe('open')
  })

  test.each([
    ['/graphql', 415],
    ['/api/enqueue', 415],
    // The specification has a closed list of statuses for submissions.
    ['/api/core/v3/blocks', 400],
  ])('a compressed body at %s has the status %i', async (path, status) => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    const body = Uint8Array.from(gzipSync('{"query":"{__typename}"}'))
    // GraphQL is not a part of the OpenAPI document.
    const post = path === '/graphql' ? fetch : rest
    const refused = await post(gateway.url + path, { method: 'POST', headers, body })
    expect([refused.status, refused.headers.get('accept-encoding')]).toEqual([status, 'identity'])
  })

  test('a body whose coding is Identity is accepted, in letters of either case', async () => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'Identity' }
    const request = { method: 'POST', headers, body: '{"query":"{__typename}"}' }
    const answered = await fetch(`${gateway.url}/graphql`, request)
    expect([answered.status, await answered.json()]).toEqual([
      200,
      { data: { __typename: 'Query' } },
    ])
  })

  test('an error about a megabyte of open quotes is shortened without a search from each of them', async () => {
    // The library prints the names of members without escapes, so their quotes need not be balanced.
    const name = `"${'\\"'.repeat(250_000)}\\`
    const query = 'query ($i: Int) { milestones(first: $i) { __typename } }'
    const { errors } = await graphql(gateway.url, query, { i: { [name]: 1 } })
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }])
    expect(JSON.stringify(errors).length).toBeLessThan(2_000)
  })

  test('a long document has few errors, because each may repeat most of it', async () => {
    const name = (n: number) => `F${n}_${'x'.repeat(950)}`
    const fragment = (n: number, spreads: string) => `fragment ${name(n)} on Query { ${spreads} }`
    const path = Array.from({ length: 200 }, (_, n) => fragment(n, `...${name(n + 1)}`))
    // Closes 200 cycles, and the error of each names all fragments of its cycle.
    const back = fragment(200, Array.from({ length: 200 }, (_, n) => `...${name(n)}`).join(' '))
    const { errors } = await graphql(gateway.url, [`{ ...${name(0)} }`, ...path, back].join(' '))
    const { code } = errors?.[0]?.extensions ?? {}
    expect([code, errors?.length]).toEqual(['GRAPHQL_VALIDATION_FAILED', 3])
    const { errors: ofShort } = await graphql(gateway.url, `{ ${'x '.repeat(200)} }`)
    expect(ofShort).toHaveLength(101)
  })

  test('an error repeats at most 200 characters of what was sent', async () => {
    const long = 'x'.repeat(5_000)
    // The human-readable part of an address may be long.
    const address = encodeBech32('x'.repeat(800), Uint8Array.of(8, ...new Uint8Array(32)))
    const members = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`x${n}`, 7]))
    const documents: [string, object?][] = [
      [`{ ${long} }`],
      [`{ milestone(${long}: 1) { index } }`],
      [`{ milestone(index: "${long}") { index } }`],
      [`{ milestone(index: ${'9'.repeat(5_000)}) { index } }`],
      [`{ "${long}`],
      ['query ($i: UInt32) { milestone(index: $i) { index } }', { i: long }],
      ['query ($a: String!) { address(address: $a) { bech32 } }', { a: long }],
      ['query ($a: BlockId!) { block(id: $a) { id } }', { a: `a "${long}` }],
      ['query ($a: String!) { address(address: $a) { bech32 } }', { a: address }],
      [`{ milestones(first: [${'x '.repeat(1_000)}]) { totalCount } }`],
      [`{ milestones(sort: {x: [${'x '.repeat(1_000)}]}) { totalCount } }`],
      ['query ($i: Int) { milestones(first: $i) { totalCount } }', { i: members }],
    ]
    for (const [query, variables] of documents) {
      const { errors } = await graphql(gateway.url, query, variables)
      const reported = JSON.stringify(
        errors?.map(({ message, extensions }) => [message, extensions]),
      )
      expect(reported).not.toMatch(/x{201}|9{201}|(x, ){67}|(x\d+: 7, ){34}/)
    }
    const json = { 'content-type': 'application/json' }
    const notJson = await send(`${gateway.url}/graphql`, json, `{"query":"${long}`)
    const reason = expect.stringMatching(/^Unterminated string in JSON at position \d+ \(.*\)$/)
    expect(JSON.parse(notJson.body).errors).toMatchObject([
      { extensions: { code: 'BODY_NOT_JSON', reason } },
    ])
    expect([notJson.status, notJson.body]).toEqual([400, expect.not.stringMatching(/x{201}/)])
    // The reason after the value is not part of it.
    const query =
      'mutation ($r: ChainRecordInput!) { setChainRecord(chainId: "x", record: $r) { id } }'
    const { errors } = await graphql(gateway.url, query, { r: members })
    expect(errors?.[0]?.message).toMatch(
      /^Variable "\$r" got invalid value .{200}…; Field "accessNodes" of required type .* was not provided\.$/,
    )
    const paths = [
      `/${long}`,
      `/health?${long}=1`,
      `/health?${long}%zz`,
      `/v1/chains/${long}/chainrecord`,
      `/v1/chains/${address}/chainrecord`,
      `/api/explorer/v2/balance/${address}`,
      `/feed/updates?address=${address}`,
    ]
    for (const path of paths) {
      expect((await send(gateway.url + path, {})).body).not.toMatch(/x{201}/)
    }
    const authorization = await gateway.token('chain-record:write')
    const headers = { ...json, authorization, 'if-match': '"1"' }
    const path = `/v1/chains/${address}/chainrecord`
    const stale = await send(gateway.url + path, headers, '{"accessNodes":[],"isActive":true}')
    expect(stale.status).toBe(412)
    expect(stale.body).not.toMatch(/x{201}/)
  })
})

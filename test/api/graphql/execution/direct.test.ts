import fc from 'fast-check'
import { getOperationAST, parse } from 'graphql'
import { auditServer } from 'graphql-http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compileQuery } from '../../../../src/api/graphql/execution/compile.ts'
import { schema } from '../../../../src/api/graphql/schema.ts'
import { present } from '../../../../src/lib/assert.ts'
import type { OutputId } from '../../../../src/protocol/primitives.ts'
import { addresses, slotEntries } from '../../../support/log-store.ts'
import { addressText, type ServedLog, serveLog } from '../../../support/serve-log.ts'

/**
 * A request with a weight in its `Accept` is executed by the server, and one without it runs on the fast path if that supports it.
 * Both must respond equally.
 */

const paths = ['fast path', 'executor'] as const
type Path = (typeof paths)[number]

let gateway: ServedLog

beforeAll(async () => {
  gateway = await serveLog()
  await gateway.commit(...fc.sample(slotEntries, { seed: 3, numRuns: 4 }))
})
afterAll(() => gateway.close())

/** Returns the request, with a weight in its `Accept` for the executor. */
function onPath(path: Path, init: RequestInit = {}): RequestInit {
  const headers = new Headers(init.headers)
  const accept = headers.get('accept') ?? '*/*'
  if (path === 'executor') headers.set('accept', accept.replace(/^[^,;]*/, '$&;q=0.9'))
  return { ...init, headers }
}

/** Sends a request with a query string, which may be empty. */
function send(query: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`${gateway.url}/graphql${query}`, init)
}

async function responseOn(path: Path, query: string, init?: RequestInit) {
  const response = await send(query, onPath(path, init))
  const { status, headers } = response
  return { status, type: headers.get('content-type'), body: await response.text() }
}

const postRequest = (body: string, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body,
})
const jsonRequest = (request: object, headers: Record<string, string> = {}) =>
  postRequest(JSON.stringify(request), headers)

const [owner = '0x'] = addresses
const page = /* GraphQL */ `
  query Page($address: String!, $first: Int, $all: Boolean = false) {
    ledgerUpdates(address: $address, first: $first) {
      nodes { cursor seq roles balance historyHash ... @include(if: $all) { isSpent } }
      pageInfo { hasNextPage endCursor } totalCount tipCursor
    }
  }
`
const variables = { address: addressText(owner), first: 5 }
const many = Array.from(
  { length: 30 },
  (_, n) => `a${n}: ledgerUpdates(address: "x", first: 1000) { nodes { cursor } }`,
)

describe('the fast path and the executor respond equally to', () => {
  const rows: [string, string, RequestInit?][] = [
    ['a page', '', jsonRequest({ query: page, variables })],
    [
      'a page with a condition',
      '',
      jsonRequest({ query: page, variables: { ...variables, all: true } }),
    ],
    [
      'a condition that is null',
      '',
      jsonRequest({ query: page, variables: { ...variables, all: null } }),
    ],
    ['empty extensions', '', jsonRequest({ query: page, variables, extensions: {} })],
    [
      'an operation by name',
      '',
      jsonRequest({
        query: `${page} query Other { __typename }`,
        variables,
        operationName: 'Page',
      }),
    ],
    [
      'the media type of GraphQL',
      '',
      jsonRequest({ query: page, variables }, { accept: 'application/graphql-response+json' }),
    ],
    [
      'two media types',
      '',
      jsonRequest(
        { query: page, variables },
        { accept: 'application/graphql-response+json, application/json' },
      ),
    ],
    [
      'a charset',
      '',
      jsonRequest(
        { query: page, variables },
        { 'content-type': 'application/json; charset=utf-8' },
      ),
    ],
    [
      'a GET',
      `?query=${encodeURIComponent(page)}&variables=${encodeURIComponent(JSON.stringify(variables))}`,
    ],
    ['a field that fails', '', jsonRequest({ query: page, variables: { address: 'nonsense' } })],
    [
      'a page that is too large',
      '',
      jsonRequest({ query: page, variables: { ...variables, first: 1001 } }),
    ],
    ['a malformed document', '', jsonRequest({ query: '{ ledgerUpdates(' })],
    ['an unknown field', '', jsonRequest({ query: '{ nothing }' })],
    ['a variable of the wrong type', '', jsonRequest({ query: page, variables: { address: 7 } })],
    ['a missing variable', '', jsonRequest({ query: page })],
    ['variables that are a list', '', jsonRequest({ query: page, variables: [] })],
    [
      'an unknown operation name',
      '',
      jsonRequest({ query: page, variables, operationName: 'Nothing' }),
    ],
    [
      'several operations without a name',
      '',
      jsonRequest({ query: 'query A { __typename } query B { __typename }' }),
    ],
    ['too high a cost', '', jsonRequest({ query: `{ ${many.join(' ')} }` })],
    ['an unknown member', '', jsonRequest({ query: page, variables, id: 'x' })],
    ['a batch', '', jsonRequest([{ query: '{ __typename }' }])],
    ['no query', '', jsonRequest({ variables })],
    ['a body that is not JSON', '', postRequest('{"query":')],
    ['an empty body', '', postRequest('')],
    ['another content type', '', postRequest('query', { 'content-type': 'text/plain' })],
    [
      'a mutation by GET',
      `?query=${encodeURIComponent('mutation { setChainRecord(chainId: "x", accessNodes: []) { version } }')}`,
    ],
    [
      'a subscription',
      '',
      jsonRequest({ query: 'subscription { ledgerUpdates(addresses: []) { __typename } }' }),
    ],
    ['a GET without a query', ''],
    ['a repeated parameter', '?query=%7B__typename%7D&query=%7B__typename%7D'],
    [
      'an unsupported Accept',
      '',
      jsonRequest({ query: page, variables }, { accept: 'text/plain' }),
    ],
  ]

  test.each(rows)('%s', async (_name, query, init) => {
    expect(await responseOn('fast path', query, init)).toEqual(
      await responseOn('executor', query, init),
    )
  })
})

test.each([
  ['without a name', '{ __typename }', undefined, '', '{ __typename }'],
  ['with a name', 'query A { __typename }', 'A', 'A query', 'A { __typename }'],
])(
  'a cached query %s does not answer a request with another name',
  async (_name, query, operationName, ...other) => {
    for (let n = 0; n < 2; n++) await send('', jsonRequest({ query, operationName }))
    const [otherName, otherQuery] = other
    const init = jsonRequest({ query: otherQuery, operationName: otherName })
    expect(await responseOn('fast path', '', init)).toEqual(await responseOn('executor', '', init))
  },
)

test.each(paths)('the %s meets all requirements of GraphQL over HTTP', async (path) => {
  const results = await auditServer({
    url: `${gateway.url}/graphql`,
    fetchFn: (url: string, init: RequestInit) => send(new URL(url).search, onPath(path, init)),
  })
  expect(results.length).toBeGreaterThan(60)
  const failed = results.filter(({ status }) => status !== 'ok')
  expect(failed.map(({ name, status }) => `${status}: ${name}`)).toEqual([])
})

test('on the fast path a response has a tag, is revalidated by it, and is compressed on request', async () => {
  const query = `{ ledgerUpdates(address: "${addressText(owner)}") { edges { node { ...U } } nodes { ...U } } }
    fragment U on LedgerUpdate { cursor address outputId historyHash }`
  const target = `?query=${encodeURIComponent(query)}`
  const first = await send(target, { headers: { 'accept-encoding': 'gzip' } })
  expect(first.headers.get('content-encoding')).toBe('gzip')
  expect(first.headers.get('cache-control')).toBe('no-cache')
  const etag = first.headers.get('etag') ?? ''
  expect(etag).toMatch(/^W\/"/)
  const again = await send(target, { headers: { 'if-none-match': etag } })
  expect([again.status, await again.text()]).toEqual([304, ''])
})

test.each(paths)(
  'on the %s a response depends on the media types that its client accepts',
  async (path) => {
    for (const target of ['?query={__typename}', '?query={ nothing }']) {
      const { headers } = await send(target, onPath(path))
      expect(headers.get('vary')).toBe('accept, accept-encoding')
    }
  },
)

test.each(paths)('on the %s HEAD is answered like GET, without the body', async (path) => {
  for (const target of ['?query={__typename}', '?query={ nothing }']) {
    const [got, head] = await Promise.all([
      send(target, onPath(path)),
      send(target, onPath(path, { method: 'HEAD' })),
    ])
    expect(await head.text()).toBe('')
    expect(head.status).toBe(got.status)
    const length = String(Buffer.byteLength(await got.text()))
    for (const name of ['content-type', 'vary', 'etag']) {
      expect(head.headers.get(name)).toBe(got.headers.get(name))
    }
    expect(head.headers.get('content-length')).toBe(length)
  }
})

test.each(paths)('on the %s a cache may not use a response without revalidation', async (path) => {
  const named = `{"persistedQuery":{"version":1,"sha256Hash":"${'0'.repeat(64)}"}}`
  const targets = ['?query={__typename}', '?query={ nothing }', `?extensions=${named}`]
  for (const target of targets) {
    const { headers } = await send(encodeURI(target), onPath(path))
    expect(headers.get('cache-control'), target).toBe('no-cache')
  }
})

test('a response with an error has its members in the requested order', async () => {
  const query =
    '{ milestone { index } bad: blocks(after: "x") { nodes { id } } search(text: "x") { message } name: __typename }'
  const { body } = await responseOn('fast path', '', jsonRequest({ query }))
  const { data, errors } = JSON.parse(body)
  expect(errors).toMatchObject([{ extensions: { code: 'CURSOR_MALFORMED' } }])
  expect(Object.keys(data)).toEqual(['milestone', 'bad', 'search', 'name'])
})

test('on the fast path a cached response keeps its tag, which is sent only by GET', async () => {
  const query = `{ ledgerUpdates(address: "${addressText(owner)}", first: 3) { nodes { cursor } } }`
  const target = `?query=${encodeURIComponent(query)}`
  const pages = []
  for (let n = 0; n < 4; n++) {
    const { headers, text } = await send(target).then(async (response) => {
      return { headers: response.headers, text: await response.text() }
    })
    pages.push([headers.get('etag'), headers.get('content-length'), text])
    const again = await send('', jsonRequest({ query }))
    expect([again.headers.get('etag'), await again.text()]).toEqual([null, text])
    // The text of a request alone does not determine how it was sent.
    expect((await send('', postRequest(target))).status).toBe(400)
  }
  expect(pages[0]?.[0]).toMatch(/^W\/"/)
  for (const page of pages) expect(page).toEqual(pages[0])
  const known = { headers: { 'if-none-match': String(pages[0]?.[0]) } }
  expect((await send(target, known)).status).toBe(304)
})

test('on the fast path a page that was requested before shows later commits', async () => {
  const query = `query ($address: String!) { ledgerUpdates(address: $address) { totalCount nodes { ordinal } } }`
  const count = async () => {
    const { body } = await responseOn(
      'fast path',
      '',
      jsonRequest({ query, variables: { address: addressText(owner) } }),
    )
    return Number(JSON.parse(body).data.ledgerUpdates.totalCount)
  }
  const before = await count()
  expect(await count()).toBe(before)
  const entry = { address: owner, class: 'OWNED', roles: ['OWNER'], isSpent: false } as const
  await gateway.commit([{ ...entry, outputId: `0x${'5a'.repeat(38)}` as OutputId }])
  expect(await count()).toBe(before + 1)
})

test('only pages that depend on the log alone have a version', () => {
  const dependenceIn = (text: string) => {
    const document = parse(text)
    const operation = present(getOperationAST(document), 'an operation')
    return compileQuery({ schema, document, operation, conditions: new Map() })?.dependsOnLog
  }
  const list = (fields: string) => `{ ledgerUpdates(address: "x", first: 3) { ${fields} } }`
  expect(
    dependenceIn(list('totalCount edges { cursor node { balance } } pageInfo { endCursor }')),
  ).toMatchObject({ isOfTip: false })
  expect(dependenceIn(list('tipCursor'))).toMatchObject({ isOfTip: true })
  expect(dependenceIn(list('nodes { output { isSpent } }'))).toBeUndefined()
  expect(
    dependenceIn(`{ ledgerUpdates(address: "x") { totalCount } milestone { index } }`),
  ).toBeUndefined()
  expect(dependenceIn('{ milestone { index } }')).toBeUndefined()
  expect(dependenceIn(list('totalCount'))?.lists({})).toMatchObject([{ address: 'x', first: 3 }])
})

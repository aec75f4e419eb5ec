import fc from 'fast-check'
import { getOperationAST, parse } from 'graphql'
import { auditServer } from 'graphql-http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compileQuery } from '../../../src/api/graphql/compile.ts'
import { schema } from '../../../src/api/graphql/schema.ts'
import { present } from '../../../src/lib/assert.ts'
import type { OutputId } from '../../../src/protocol/primitives.ts'
import { addresses, slotEntries } from '../../support/log-store.ts'
import { addressText, type ServedLog, serveLog } from '../../support/serve-log.ts'

/**
 * Both ways in: a request with a weight in its `Accept` takes the long way through the server, and one without it the short
 * one, where that answers it. What they answer must be the same.
 */

const ways = ['short', 'long'] as const
type Way = (typeof ways)[number]

let gateway: ServedLog

beforeAll(async () => {
  gateway = await serveLog()
  await gateway.commit(...fc.sample(slotEntries, { seed: 3, numRuns: 4 }))
})
afterAll(() => gateway.close())

/** The request, its `Accept` weighted where it is to take the long way. */
function onWay(way: Way, init: RequestInit = {}): RequestInit {
  const headers = new Headers(init.headers)
  const accept = headers.get('accept') ?? '*/*'
  if (way === 'long') headers.set('accept', accept.replace(/^[^,;]*/, '$&;q=0.9'))
  return { ...init, headers }
}

/** Asks with a query string, which may be empty. */
function ask(query: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`${gateway.url}/graphql${query}`, init)
}

async function answerOn(way: Way, query: string, init?: RequestInit) {
  const response = await ask(query, onWay(way, init))
  const { status, headers } = response
  return { status, type: headers.get('content-type'), body: await response.text() }
}

const posted = (body: string, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body,
})
const asked = (request: object, headers: Record<string, string> = {}) =>
  posted(JSON.stringify(request), headers)

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

describe('is answered the same on both ways:', () => {
  const rows: [string, string, RequestInit?][] = [
    ['a page', '', asked({ query: page, variables })],
    ['a page with a condition', '', asked({ query: page, variables: { ...variables, all: true } })],
    ['empty extensions', '', asked({ query: page, variables, extensions: {} })],
    [
      'an operation by name',
      '',
      asked({ query: `${page} query Other { __typename }`, variables, operationName: 'Page' }),
    ],
    [
      'the media type of GraphQL',
      '',
      asked({ query: page, variables }, { accept: 'application/graphql-response+json' }),
    ],
    [
      'two media types',
      '',
      asked(
        { query: page, variables },
        { accept: 'application/graphql-response+json, application/json' },
      ),
    ],
    [
      'a charset',
      '',
      asked({ query: page, variables }, { 'content-type': 'application/json; charset=utf-8' }),
    ],
    [
      'a GET',
      `?query=${encodeURIComponent(page)}&variables=${encodeURIComponent(JSON.stringify(variables))}`,
    ],
    ['a field that fails', '', asked({ query: page, variables: { address: 'nonsense' } })],
    [
      'a page that is too large',
      '',
      asked({ query: page, variables: { ...variables, first: 1001 } }),
    ],
    ['a document that is none', '', asked({ query: '{ ledgerUpdates(' })],
    ['a field that is none', '', asked({ query: '{ nothing }' })],
    ['a variable that does not fit', '', asked({ query: page, variables: { address: 7 } })],
    ['a variable that is missing', '', asked({ query: page })],
    ['variables that are a list', '', asked({ query: page, variables: [] })],
    [
      'an operation that is not there',
      '',
      asked({ query: page, variables, operationName: 'Nothing' }),
    ],
    [
      'one of several that is not named',
      '',
      asked({ query: 'query A { __typename } query B { __typename }' }),
    ],
    ['too high a cost', '', asked({ query: `{ ${many.join(' ')} }` })],
    ['an unknown member', '', asked({ query: page, variables, id: 'x' })],
    ['a batch', '', asked([{ query: '{ __typename }' }])],
    ['no query', '', asked({ variables })],
    ['what is not JSON', '', posted('{"query":')],
    ['an empty body', '', posted('')],
    ['another type of content', '', posted('query', { 'content-type': 'text/plain' })],
    [
      'a mutation by GET',
      `?query=${encodeURIComponent('mutation { setChainRecord(chainId: "x", accessNodes: []) { version } }')}`,
    ],
    [
      'a subscription',
      '',
      asked({ query: 'subscription { ledgerUpdates(addresses: []) { __typename } }' }),
    ],
    ['a GET without a query', ''],
    ['a parameter twice', '?query=%7B__typename%7D&query=%7B__typename%7D'],
    [
      'what no answer is accepted in',
      '',
      asked({ query: page, variables }, { accept: 'text/plain' }),
    ],
  ]

  test.each(rows)('%s', async (_name, query, init) => {
    expect(await answerOn('short', query, init)).toEqual(await answerOn('long', query, init))
  })
})

test.each(ways)('all that GraphQL over HTTP asks for holds on the %s way', async (way) => {
  const results = await auditServer({
    url: `${gateway.url}/graphql`,
    fetchFn: (url: string, init: RequestInit) => ask(new URL(url).search, onWay(way, init)),
  })
  expect(results.length).toBeGreaterThan(60)
  const failed = results.filter(({ status }) => status !== 'ok')
  expect(failed.map(({ name, status }) => `${status}: ${name}`)).toEqual([])
})

test('on the short way a page is tagged and not sent again, and compressed where that is accepted', async () => {
  const query = `{ ledgerUpdates(address: "${addressText(owner)}") { edges { node { ...U } } nodes { ...U } } }
    fragment U on LedgerUpdate { cursor address outputId historyHash }`
  const target = `?query=${encodeURIComponent(query)}`
  const first = await ask(target, { headers: { 'accept-encoding': 'gzip' } })
  expect(first.headers.get('content-encoding')).toBe('gzip')
  expect(first.headers.get('cache-control')).toBe('no-cache')
  const etag = first.headers.get('etag') ?? ''
  expect(etag).toMatch(/^W\/"/)
  const again = await ask(target, { headers: { 'if-none-match': etag } })
  expect([again.status, await again.text()]).toEqual([304, ''])
})

test('an answer with an error has its members in the order asked', async () => {
  const query =
    '{ milestone { index } bad: blocks(after: "x") { nodes { id } } search(text: "x") { message } name: __typename }'
  const { body } = await answerOn('short', '', asked({ query }))
  const { data, errors } = JSON.parse(body)
  expect(errors).toMatchObject([{ extensions: { code: 'CURSOR_MALFORMED' } }])
  expect(Object.keys(data)).toEqual(['milestone', 'bad', 'search', 'name'])
})

test('on the short way a page that is asked for again is sent with the tag that it had, and only by GET', async () => {
  const query = `{ ledgerUpdates(address: "${addressText(owner)}", first: 3) { nodes { cursor } } }`
  const target = `?query=${encodeURIComponent(query)}`
  const pages = []
  for (let n = 0; n < 4; n++) {
    const { headers, text } = await ask(target).then(async (response) => {
      return { headers: response.headers, text: await response.text() }
    })
    pages.push([headers.get('etag'), headers.get('content-length'), text])
    const again = await ask('', asked({ query }))
    expect([again.headers.get('etag'), await again.text()]).toEqual([null, text])
    // The text of the request alone does not tell how it was sent.
    expect((await ask('', posted(target))).status).toBe(400)
  }
  expect(pages[0]?.[0]).toMatch(/^W\/"/)
  for (const page of pages) expect(page).toEqual(pages[0])
  const known = { headers: { 'if-none-match': String(pages[0]?.[0]) } }
  expect((await ask(target, known)).status).toBe(304)
})

test('on the short way a page that was asked for before shows what is committed after it', async () => {
  const query = `query ($address: String!) { ledgerUpdates(address: $address) { totalCount nodes { ordinal } } }`
  const count = async () => {
    const { body } = await answerOn(
      'short',
      '',
      asked({ query, variables: { address: addressText(owner) } }),
    )
    return Number(JSON.parse(body).data.ledgerUpdates.totalCount)
  }
  const before = await count()
  expect(await count()).toBe(before)
  const entry = { address: owner, class: 'OWNED', roles: ['OWNER'], isSpent: false } as const
  await gateway.commit([{ ...entry, outputId: `0x${'5a'.repeat(38)}` as OutputId }])
  expect(await count()).toBe(before + 1)
})

test('only what depends on the log alone is kept', () => {
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

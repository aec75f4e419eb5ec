import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readTrustedDocuments } from '../../../src/api/graphql/documents.ts'
import { maxNamedCharacters } from '../../../src/api/graphql/limits.ts'
import { socketClient } from '../../support/client.ts'
import { openStream } from '../../support/event-stream.ts'
import { type ServedLog, serveLog } from '../../support/serve-log.ts'

/** Documents that requests name, on every transport of GraphQL. */

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')
const named = (sha256Hash: string) => ({ persistedQuery: { version: 1, sha256Hash } })

interface Request {
  readonly query?: string
  readonly extensions?: object
}

interface Answer {
  readonly data?: unknown
  readonly errors?: readonly { readonly message: string; readonly extensions: { code: string } }[]
}

/** The data, or the code of the refusal. */
const told = ({ data, errors }: Answer) => errors?.[0]?.extensions.code ?? data

/** A request by each transport; a weight in `Accept` leads the long way through the server. */
const transports: Readonly<Record<string, (url: string, request: Request) => Promise<Answer>>> = {
  POST: (url, request) => post(url, request, '*/*'),
  'POST, long way': (url, request) => post(url, request, '*/*;q=0.9'),
  GET: async (url, request) =>
    (await fetch(`${url}/graphql${search(request)}`)).json() as Promise<Answer>,
  'GET, long way': async (url, request) => {
    const headers = { accept: '*/*;q=0.9' }
    return (await fetch(`${url}/graphql${search(request)}`, { headers })).json() as Promise<Answer>
  },
  WebSocket: async (url, { query = '', extensions = {} }) => {
    const client = socketClient(url)
    try {
      const results = client.iterate({ query, extensions: { ...extensions } })
      return (await results.next()).value as Answer
    } catch (errors) {
      // What is refused before it begins.
      return { errors: errors as NonNullable<Answer['errors']> }
    } finally {
      await client.dispose()
    }
  },
  'server-sent events by GET': (url, request) => stream(`${url}/graphql${search(request)}`),
  'server-sent events by POST': (url, request) =>
    stream(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(request),
    }),
}
const names = Object.keys(transports)

async function post(url: string, request: Request, accept: string): Promise<Answer> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept },
    body: JSON.stringify(request),
  })
  return (await response.json()) as Answer
}

function search({ query, extensions }: Request): string {
  const parameters = new URLSearchParams()
  if (query !== undefined) parameters.set('query', query)
  if (extensions !== undefined) parameters.set('extensions', JSON.stringify(extensions))
  return `?${parameters}`
}

async function stream(url: string, init: RequestInit = {}): Promise<Answer> {
  const events = await openStream(url, init)
  try {
    const isRefused = !events.response.ok
    return isRefused ? ((await events.response.json()) as Answer) : await events.result()
  } finally {
    events.close()
  }
}

function askBy(transport: string, url: string, request: Request): Promise<Answer> {
  const ask = transports[transport]
  if (ask === undefined) throw new Error(transport)
  return ask(url, request)
}

describe('a document that was sent before', () => {
  let gateway: ServedLog
  beforeAll(async () => {
    gateway = await serveLog()
  })
  afterAll(() => gateway.close())

  test.each(names)('is answered by its hash: %s', async (transport) => {
    const query = `{ __typename # ${transport}\n }`
    const ask = (request: Request) => askBy(transport, gateway.url, request)
    const extensions = named(hashOf(query))
    const missing = await ask({ extensions })
    expect(told(missing)).toBe('PERSISTED_QUERY_NOT_FOUND')
    // By which some clients know that they are to send it.
    expect(missing.errors?.[0]?.message).toBe('PersistedQueryNotFound')
    expect(told(await ask({ query, extensions }))).toEqual({ __typename: 'Query' })
    for (let times = 0; times < 3; times++) {
      expect(told(await ask({ extensions }))).toEqual({ __typename: 'Query' })
    }
  })

  test.each(names)('is refused by another hash, and not kept under it: %s', async (transport) => {
    const query = '{ __typename }'
    const extensions = named(hashOf(`other ${transport}`))
    const ask = (request: Request) => askBy(transport, gateway.url, request)
    expect(told(await ask({ query, extensions }))).toBe('PERSISTED_QUERY_HASH_MISMATCH')
    expect(told(await ask({ extensions }))).toBe('PERSISTED_QUERY_NOT_FOUND')
  })

  const malformed: [string, object][] = [
    ['another version', { persistedQuery: { version: 2, sha256Hash: hashOf('') } }],
    ['no hash', { persistedQuery: { version: 1 } }],
    ['a hash of another length', named('ab')],
    ['a number', { persistedQuery: 7 }],
  ]
  test.each(malformed)('is named in one form: %s', async (_name, extensions) => {
    for (const transport of names) {
      const answer = await askBy(transport, gateway.url, { query: '{ __typename }', extensions })
      expect(told(answer)).toBe('PERSISTED_QUERY_MALFORMED')
    }
  })

  test('by GET has a tag, by which it is not sent again', async () => {
    const query = '{ ledgerUpdates(first: 1) { nodes { cursor } } }'
    await askBy('POST', gateway.url, { query, extensions: named(hashOf(query)) })
    const asked = search({ extensions: named(hashOf(query)) })
    const ask = (init?: RequestInit) => fetch(`${gateway.url}/graphql${asked}`, init)
    const { status, headers } = await ask()
    expect(status).toBe(200)
    const again = await ask({ headers: { 'if-none-match': headers.get('etag') ?? '' } })
    expect(again.status).toBe(304)
  })

  test('is forgotten when newer ones fill what is kept', async () => {
    const first = '{ __typename # first\n }'
    await askBy('POST', gateway.url, { query: first, extensions: named(hashOf(first)) })
    const filler = 'x'.repeat(500_000)
    for (let sent = 0; sent <= maxNamedCharacters; sent += filler.length) {
      const query = `{ __typename } # ${sent} ${filler}`
      const extensions = named(hashOf(query))
      expect(told(await askBy('POST', gateway.url, { query, extensions }))).toEqual({
        __typename: 'Query',
      })
    }
    const answer = await askBy('POST', gateway.url, { extensions: named(hashOf(first)) })
    expect(told(answer)).toBe('PERSISTED_QUERY_NOT_FOUND')
  })
})

describe('with a manifest', () => {
  const query = '{ __typename }'
  const trustedDocuments = new Map([['page-1', query]])
  let gateway: ServedLog
  beforeAll(async () => {
    gateway = await serveLog({ trustedDocuments })
  })
  afterAll(() => gateway.close())

  test.each(names)('its documents are answered by name and by text: %s', async (transport) => {
    const ask = (request: Request) => askBy(transport, gateway.url, request)
    expect(told(await ask({ extensions: named('page-1') }))).toEqual({ __typename: 'Query' })
    expect(told(await ask({ query }))).toEqual({ __typename: 'Query' })
    expect(told(await ask({ query, extensions: named('page-1') }))).toEqual({ __typename: 'Query' })
  })

  test.each(names)('no others are: %s', async (transport) => {
    const ask = (request: Request) => askBy(transport, gateway.url, request)
    const other = '{ a: __typename }'
    expect(told(await ask({ query: other }))).toBe('DOCUMENT_NOT_TRUSTED')
    expect(told(await ask({ extensions: named(hashOf(other)) }))).toBe('DOCUMENT_NOT_TRUSTED')
    expect(told(await ask({ query: other, extensions: named(hashOf(other)) }))).toBe(
      'DOCUMENT_NOT_TRUSTED',
    )
    const mixed = await ask({ query: other, extensions: named('page-1') })
    expect(told(mixed)).toBe('PERSISTED_QUERY_HASH_MISMATCH')
  })
})

describe('a manifest', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-'))
  const path = join(folder, 'documents.json')
  afterAll(() => rmSync(folder, { recursive: true }))
  const read = (text: string) => {
    writeFileSync(path, text)
    return readTrustedDocuments(path)
  }

  test('is a list of texts by ids, as clients write it', async () => {
    const expected = { ok: true, value: new Map([['a', '{ b }']]) }
    expect(await read('{"a": "{ b }"}')).toEqual(expected)
    const operations = [{ id: 'a', name: 'A', type: 'query', body: '{ b }' }]
    expect(await read(JSON.stringify({ version: 1, operations }))).toEqual(expected)
  })

  test.each(['', '{', '{}', '[]', '7', '{"a": 7}', '{"operations": [{"id": "a"}]}'])(
    'is not: %s',
    async (text) => {
      const error = { code: 'TRUSTED_DOCUMENTS_INVALID', path, reason: expect.any(String) }
      expect(await read(text)).toEqual({ ok: false, error })
    },
  )

  test('that is not there is refused', async () => {
    const { error } = { error: undefined, ...(await readTrustedDocuments(join(folder, 'none'))) }
    expect(error).toMatchObject({ code: 'TRUSTED_DOCUMENTS_INVALID' })
  })
})

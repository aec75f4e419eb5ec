import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readTrustedDocuments } from '../../../../src/api/graphql/execution/documents.ts'
import { maxNamedCharacters } from '../../../../src/api/graphql/execution/limits.ts'
import { socketClient } from '../../../support/client.ts'
import { openStream } from '../../../support/event-stream.ts'
import { type ServedLog, serveLog } from '../../../support/serve-log.ts'

/** Documents that requests name, on every transport of GraphQL. */

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')
const named = (sha256Hash: string) => ({ persistedQuery: { version: 1, sha256Hash } })

interface Request {
  readonly query?: string
  readonly operationName?: string
  readonly extensions?: object
}

interface Reply {
  readonly data?: unknown
  readonly errors?: readonly { readonly message: string; readonly extensions: { code: string } }[]
}

/** Returns the data, or the code of the error. */
const outcomeOf = ({ data, errors }: Reply) => errors?.[0]?.extensions.code ?? data

/** Sends a request by a transport; a weight in `Accept` selects the executor. */
const transports: Readonly<Record<string, (url: string, request: Request) => Promise<Reply>>> = {
  POST: (url, request) => post(url, request, '*/*'),
  'POST, by the executor': (url, request) => post(url, request, '*/*;q=0.9'),
  GET: async (url, request) =>
    (await fetch(`${url}/graphql${search(request)}`)).json() as Promise<Reply>,
  'GET, by the executor': async (url, request) => {
    const headers = { accept: '*/*;q=0.9' }
    return (await fetch(`${url}/graphql${search(request)}`, { headers })).json() as Promise<Reply>
  },
  WebSocket: async (url, { query = '', operationName, extensions = {} }) => {
    const client = socketClient(url)
    try {
      const results = client.iterate({ query, operationName, extensions: { ...extensions } })
      return (await results.next()).value as Reply
    } catch (errors) {
      // The errors of an operation that is refused before it begins.
      return { errors: errors as NonNullable<Reply['errors']> }
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

async function post(url: string, request: Request, accept: string): Promise<Reply> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept },
    body: JSON.stringify(request),
  })
  return (await response.json()) as Reply
}

function search({ query, operationName, extensions }: Request): string {
  const parameters = new URLSearchParams()
  if (operationName !== undefined) parameters.set('operationName', operationName)
  if (query !== undefined) parameters.set('query', query)
  if (extensions !== undefined) parameters.set('extensions', JSON.stringify(extensions))
  return `?${parameters}`
}

async function stream(url: string, init: RequestInit = {}): Promise<Reply> {
  const events = await openStream(url, init)
  try {
    const isRefused = !events.response.ok
    return isRefused ? ((await events.response.json()) as Reply) : await events.result()
  } finally {
    events.close()
  }
}

function sendBy(transport: string, url: string, request: Request): Promise<Reply> {
  const send = transports[transport]
  if (send === undefined) throw new Error(transport)
  return send(url, request)
}

describe('a request with an empty name of the operation', () => {
  let gateway: ServedLog
  beforeAll(async () => {
    gateway = await serveLog()
  })
  afterAll(() => gateway.close())

  test.each(names)(
    'is for the only operation of the document, as without a name: %s',
    async (transport) => {
      const send = (query: string) => sendBy(transport, gateway.url, { query, operationName: '' })
      expect(outcomeOf(await send('query Q { __typename }'))).toEqual({ __typename: 'Query' })
      const { data, errors } = await send('query Q { __typename } query R { __typename }')
      expect(data).toBeUndefined()
      expect(errors).toMatchObject([{ extensions: { code: 'OPERATION_RESOLUTION_FAILURE' } }])
    },
  )
})

describe('a document that was sent before', () => {
  let gateway: ServedLog
  beforeAll(async () => {
    gateway = await serveLog()
  })
  afterAll(() => gateway.close())

  test.each(names)('is executed by its hash: %s', async (transport) => {
    const query = `{ __typename # ${transport}\n }`
    const send = (request: Request) => sendBy(transport, gateway.url, request)
    const extensions = named(hashOf(query))
    const missing = await send({ extensions })
    expect(outcomeOf(missing)).toBe('PERSISTED_QUERY_NOT_FOUND')
    // By this message some clients detect that they have to send the text.
    expect(missing.errors?.[0]?.message).toBe('PersistedQueryNotFound')
    expect(outcomeOf(await send({ query, extensions }))).toEqual({ __typename: 'Query' })
    for (let times = 0; times < 3; times++) {
      expect(outcomeOf(await send({ extensions }))).toEqual({ __typename: 'Query' })
    }
  })

  test.each(names)(
    'is refused with another hash, and not cached under it: %s',
    async (transport) => {
      const query = '{ __typename }'
      const extensions = named(hashOf(`other ${transport}`))
      const send = (request: Request) => sendBy(transport, gateway.url, request)
      expect(outcomeOf(await send({ query, extensions }))).toBe('PERSISTED_QUERY_HASH_MISMATCH')
      expect(outcomeOf(await send({ extensions }))).toBe('PERSISTED_QUERY_NOT_FOUND')
    },
  )

  const malformed: [string, object][] = [
    ['another version', { persistedQuery: { version: 2, sha256Hash: hashOf('') } }],
    ['no hash', { persistedQuery: { version: 1 } }],
    ['a hash of another length', named('ab')],
    ['a number', { persistedQuery: 7 }],
  ]
  test.each(malformed)('is refused if it is named by %s', async (_name, extensions) => {
    for (const transport of names) {
      const reply = await sendBy(transport, gateway.url, { query: '{ __typename }', extensions })
      expect(outcomeOf(reply)).toBe('PERSISTED_QUERY_MALFORMED')
    }
  })

  test('by GET has a tag, and is revalidated by it', async () => {
    const query = '{ ledgerUpdates(first: 1) { nodes { cursor } } }'
    await sendBy('POST', gateway.url, { query, extensions: named(hashOf(query)) })
    const target = search({ extensions: named(hashOf(query)) })
    const send = (init?: RequestInit) => fetch(`${gateway.url}/graphql${target}`, init)
    const { status, headers } = await send()
    expect(status).toBe(200)
    const again = await send({ headers: { 'if-none-match': headers.get('etag') ?? '' } })
    expect(again.status).toBe(304)
  })

  test('is evicted when newer documents fill the cache', async () => {
    const first = '{ __typename # first\n }'
    await sendBy('POST', gateway.url, { query: first, extensions: named(hashOf(first)) })
    const filler = 'x'.repeat(500_000)
    for (let sent = 0; sent <= maxNamedCharacters; sent += filler.length) {
      const query = `{ __typename } # ${sent} ${filler}`
      const extensions = named(hashOf(query))
      expect(outcomeOf(await sendBy('POST', gateway.url, { query, extensions }))).toEqual({
        __typename: 'Query',
      })
    }
    const reply = await sendBy('POST', gateway.url, { extensions: named(hashOf(first)) })
    expect(outcomeOf(reply)).toBe('PERSISTED_QUERY_NOT_FOUND')
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

  test.each(names)('its documents are executed by name and by text: %s', async (transport) => {
    const send = (request: Request) => sendBy(transport, gateway.url, request)
    expect(outcomeOf(await send({ extensions: named('page-1') }))).toEqual({ __typename: 'Query' })
    expect(outcomeOf(await send({ query }))).toEqual({ __typename: 'Query' })
    expect(outcomeOf(await send({ query, extensions: named('page-1') }))).toEqual({
      __typename: 'Query',
    })
  })

  test.each(names)('other documents are refused: %s', async (transport) => {
    const send = (request: Request) => sendBy(transport, gateway.url, request)
    const other = '{ a: __typename }'
    expect(outcomeOf(await send({ query: other }))).toBe('DOCUMENT_NOT_TRUSTED')
    expect(outcomeOf(await send({ extensions: named(hashOf(other)) }))).toBe('DOCUMENT_NOT_TRUSTED')
    expect(outcomeOf(await send({ query: other, extensions: named(hashOf(other)) }))).toBe(
      'DOCUMENT_NOT_TRUSTED',
    )
    const mixed = await send({ query: other, extensions: named('page-1') })
    expect(outcomeOf(mixed)).toBe('PERSISTED_QUERY_HASH_MISMATCH')
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
    'is refused if it is %s',
    async (text) => {
      const error = { code: 'TRUSTED_DOCUMENTS_INVALID', path, reason: expect.any(String) }
      expect(await read(text)).toEqual({ ok: false, error })
    },
  )

  test('that does not exist is refused', async () => {
    const { error } = { error: undefined, ...(await readTrustedDocuments(join(folder, 'none'))) }
    expect(error).toMatchObject({ code: 'TRUSTED_DOCUMENTS_INVALID' })
  })
})

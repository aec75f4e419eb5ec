import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { DocumentTypeDecoration, TypedDocumentNode } from '@graphql-typed-document-node/core'
import { buildSchema, isScalarType, isSpecifiedScalarType, parse, print } from 'graphql'
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from 'vitest'
import { documentText } from '../../src/client/documents.ts'
import {
  type Answer,
  type FeedEnded,
  type FeedEvent,
  type FeedUpdate,
  follow,
  query,
  type Scalars,
  scalars,
  subscribe,
} from '../../src/client/index.ts'
import { openCuttableProxy } from '../support/cuttable-proxy.ts'
import { rest } from '../support/rest.ts'
import { serveLog } from '../support/serve-log.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'
import { openSwitch } from '../support/switch.ts'
import { until } from '../support/until.ts'
import { addressOf, untilHealth, user } from '../support/wallet.ts'

/** Queries, subscriptions and selections of updates with documents of the caller, and the types that generators give them. */

let gateway: TestGateway
let url = ''
const address = addressOf(user(3))

beforeAll(async () => {
  gateway = await startGateway()
  url = gateway.url
  await untilHealth(url)
})
afterAll(() => gateway.close())

async function all<T>(events: AsyncIterable<T>): Promise<readonly T[]> {
  const received: T[] = []
  for await (const event of events) received.push(event)
  return received
}

/** A typed document as code generators write it for documents as text. */
class TypedDocumentString<Data, Variables>
  extends String
  implements DocumentTypeDecoration<Data, Variables>
{
  declare readonly __apiType?: NonNullable<DocumentTypeDecoration<Data, Variables>['__apiType']>
}

interface BalanceData {
  readonly address: { readonly balance: { readonly total: string } }
}

const balanceText = 'query Balance($of: String!) { address(address: $of) { balance { total } } }'
const balanceNode: TypedDocumentNode<BalanceData, { of: string }> = parse(balanceText)
const balanceString = new TypedDocumentString<BalanceData, { of: string }>(balanceText)

async function payTo(payee: string): Promise<void> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
  const response = await rest(`${url}/api/enqueue`, {
    ...init,
    body: JSON.stringify({ address: payee }),
  })
  expect(response.status).toBe(202)
}

describe('the text of a parsed document', () => {
  const folder = new URL('../../docs/examples/explorer/', import.meta.url)
  const pages = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), 'utf8'))
  const everyKind = `
    query All($a: [Int!]! = [1, -2], $b: Thing @mark(if: true), $c: Float = 1.5e3) @live {
      alias: field(text: "a \\"quoted\\"\\n line", none: null, object: { one: ENUM, two: [$a, [true]] }) @skip(if: $b)
      ... on Thing @mark { __typename }
      ... @include(if: false) { id }
      ...Part @mark(block: """
        a block
          of lines
      """)
    }
    fragment Part on Thing @mark { id }
    mutation { act }
    subscription ($d: ID) { follow(d: $d) }`

  test('is equivalent to its source for the pages of the explorer and every kind of node', () => {
    expect(pages.length).toBeGreaterThan(20)
    for (const source of [...pages, everyKind]) {
      const again = parse(documentText(parse(source, { noLocation: true })))
      // A block string is printed as an ordinary string with the same text.
      const plain = (text: string) =>
        JSON.stringify(parse(text, { noLocation: true })).replaceAll(
          '"block":true',
          '"block":false',
        )
      expect(plain(print(again))).toBe(plain(source))
    }
  })
})

describe('query', () => {
  test.each([
    ['a parsed document', balanceNode],
    ['a text with types', balanceString],
  ])('answers %s with its type', async (_name, document) => {
    const answer = await query({ url, document, variables: { of: address } })
    expectTypeOf(answer).toEqualTypeOf<Answer<BalanceData>>()
    expect(answer).toEqual({
      ok: true,
      data: { address: { balance: { total: '1000000000' } } },
      failures: [],
    })
  })

  test('checks the types of variables, and needs none if none is required', async () => {
    // @ts-expect-error a variable is missing
    const missing = await query({ url, document: balanceNode })
    expect(missing).toMatchObject({ ok: false, failure: { code: 'BAD_USER_INPUT' } })
    // @ts-expect-error the variable must be a string
    await query({ url, document: balanceString, variables: { of: 1 } })
    const document: TypedDocumentNode<{ status: { role: string } }, { [key: string]: never }> =
      parse('{ status { role } }')
    const answer = await query({ url, document })
    expect(answer).toMatchObject({ ok: true, data: { status: { role: 'WRITER' } } })
  })

  test('accepts a plain text with a type that the caller names', async () => {
    const answer = await query<BalanceData>({
      url,
      document: balanceText,
      variables: { of: address },
    })
    expectTypeOf(answer).toEqualTypeOf<Answer<BalanceData>>()
    expect(answer.ok).toBe(true)
  })

  test('returns the code of a failure: an invalid document, a proxy, no gateway', async () => {
    const nothing = await query({ url, document: '{ nothing }' })
    expect(nothing).toMatchObject({ ok: false, failure: { code: 'GRAPHQL_VALIDATION_FAILED' } })
    const proxy = createServer((_request, response) => {
      response
        .writeHead(502, { 'content-type': 'text/html', 'retry-after': '3' })
        .end('<h1>Bad gateway</h1>')
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const { port } = proxy.address() as AddressInfo
    const away = `http://127.0.0.1:${port}/`
    const page = await query({ url: away, document: '{ status { role } }' })
    expect(page).toMatchObject({ ok: false, failure: { code: 'HTTP_502', retryAfterMs: 3_000 } })
    await new Promise((resolve) => proxy.close(resolve))
    const offline = await query({ url: away, document: '{ status { role } }' })
    expect(offline).toMatchObject({ ok: false, failure: { code: 'OFFLINE' } })
  })

  test.each([
    ...['', 'gateway', 'ws://127.0.0.1', 'http:', 'http://', 'http:/127.0.0.1'],
    ...['http://127.0.0.1/?a=1', 'http://127.0.0.1/#a'],
  ])('refuses the invalid URL "%s"', async (url) => {
    const answer = await query({ url, document: '{ status { role } }' })
    expect(answer).toMatchObject({ ok: false, failure: { code: 'URL_MALFORMED' } })
  })

  test('throws what its signal throws, also while its headers never arrive', async () => {
    const controller = new AbortController()
    const headers = () => {
      setImmediate(() => controller.abort())
      return new Promise<Record<string, string>>(() => {})
    }
    const own = { url, document: '{ status { role } }', headers, signal: controller.signal }
    await expect(query(own)).rejects.toMatchObject({ name: 'AbortError' })
  })

  test('throws for headers that no request can have, which are not an unreachable server', async () => {
    const headers = () => ({ authorization: 'line\nbreak' })
    await expect(query({ url, document: '{ status { role } }', headers })).rejects.toThrow(
      TypeError,
    )
  })

  test('throws what its signal throws', async () => {
    const signal = AbortSignal.abort()
    await expect(query({ url, document: '{ status { role } }', signal })).rejects.toBe(
      signal.reason,
    )
  })
})

describe('subscribe', () => {
  test('returns typed events, and computes the variables for each connection', async () => {
    type Milestones = { readonly milestones: { readonly index: number } }
    const document: TypedDocumentNode<Milestones, { after: number }> = parse(
      'subscription New($after: UInt32!) { milestones(after: $after) { index } }',
    )
    const received: number[] = []
    const variables = () => ({ after: received.at(-1) ?? 0 })
    const proxy = await openCuttableProxy(url)
    const events = subscribe({ url: proxy.url, document, variables, longestPauseMs: 5 })
    for await (const event of events) {
      expectTypeOf(event).toEqualTypeOf<Answer<Milestones>>()
      if (event.ok) received.push(event.data.milestones.index)
      if (received.length === 6) break
      proxy.cut()
    }
    proxy.close()
    expect(received).toEqual([1, 2, 3, 4, 5, 6])
  })

  test('ends when the gateway completes the subscription', async () => {
    await payTo(address)
    const latest = '{ transactions(first: 1) { nodes { transactionId } } }'
    type Latest = { transactions: { nodes: readonly { transactionId: string }[] } }
    const id = await until(async () => {
      const answer = await query<Latest>({ url, document: latest })
      return answer.ok && answer.data.transactions.nodes[0]?.transactionId
    })
    const document = 'subscription ($id: TransactionId!) { transactionState(id: $id) { state } }'
    const states: unknown[] = []
    for await (const event of subscribe({ url, document, variables: { id } })) states.push(event)
    expect(states.at(-1)).toMatchObject({ data: { transactionState: { state: 'FINALIZED' } } })
  })

  test('waits at a gateway that lags behind the one that sent its last milestone', async () => {
    const [ahead, behind] = [await serveLog(), await serveLog()]
    await ahead.commit([], [], [])
    await ahead.known()
    const proxy = await openSwitch(Number(new URL(ahead.url).port))
    const received: number[] = []
    const codes: string[] = []
    type Milestones = { readonly milestones: { readonly index: number } }
    const events = subscribe<Milestones>({
      url: `http://127.0.0.1:${proxy.port}`,
      document: 'subscription ($after: UInt32!) { milestones(after: $after) { index } }',
      variables: () => ({ after: received.at(-1) ?? 0 }),
      longestPauseMs: 5,
      onDisconnected: ({ code }) => {
        codes.push(code)
        if (code === 'MILESTONE_NOT_COMMITTED') void behind.commit([], [], [], [])
      },
    })
    for await (const event of events) {
      if (!event.ok) throw new Error(event.failure.code)
      received.push(event.data.milestones.index)
      if (received.length === 3) proxy.leadTo(Number(new URL(behind.url).port))
      if (received.length === 4) break
    }
    expect(received).toEqual([1, 2, 3, 4])
    expect(codes).toEqual(['OFFLINE', 'MILESTONE_NOT_COMMITTED'])
    await proxy.close()
    await ahead.close()
    await behind.close()
  })

  test('ends at once when its signal aborts while the variables are computed', async () => {
    const quiet = await serveLog()
    const controller = new AbortController()
    const variables = () => {
      controller.abort()
      return {}
    }
    const document = 'subscription { milestones { index } }'
    const { signal } = controller
    expect(await all(subscribe({ url: quiet.url, document, variables, signal }))).toEqual([])
    await quiet.close()
  })

  test('ends with an error that a new connection would not change', async () => {
    const document = 'subscription { milestones(after: 4294967295) { index } }'
    const events = await all(subscribe({ url, document }))
    expect(events).toMatchObject([{ ok: false, failure: { code: 'MILESTONE_NOT_COMMITTED' } }])
  })
})

describe('follow with a selection', () => {
  interface Amounts {
    readonly output: { readonly amount: string; readonly address: string | null }
    readonly transaction: { readonly state: string } | null
  }
  const text = `fragment Amounts on LedgerUpdate { ...Whose transaction { state } }
    fragment Whose on LedgerUpdate { output { amount address } }`
  const selection: TypedDocumentNode<Amounts, unknown> = parse(text)

  test('returns updates with typed outputs and amounts', async () => {
    const payee = addressOf(user(4))
    const { cursor } = await openedAt(payee)
    await payTo(payee)
    const feed = follow({ url, addresses: [payee], after: cursor, selection })
    for await (const event of feed) {
      expectTypeOf(event).toEqualTypeOf<FeedEvent<Amounts> | FeedEnded>()
      if (event.__typename !== 'LedgerUpdateBatch') continue
      const [update] = event.updates
      expectTypeOf(update).toEqualTypeOf<(FeedUpdate & Amounts) | undefined>()
      expect(update).toMatchObject({ address: payee, isSpent: false, ordinal: '2' })
      expect(BigInt(update?.output.amount ?? 0)).toBeGreaterThan(0n)
      expect(update?.output.address).toBe(payee)
      expect(update?.transaction?.state).toMatch(/COMMITTED|FINALIZED/)
      break
    }
  })

  const refused = [
    ['a field that does not exist', 'fragment Odd on LedgerUpdate { colour }'],
    [
      'an alias that replaces a field that the client checks',
      'fragment Odd on LedgerUpdate { ordinal: seq }',
    ],
    ['a fragment on another type', 'fragment Odd on Output { amount }'],
    ['a query instead of a fragment', 'query { status { role } }'],
  ] as const
  test.each(refused)('ends for an invalid selection: %s', async (_name, wrong) => {
    const events = await all(follow({ url, selection: wrong }))
    expect(events).toMatchObject([{ __typename: 'FeedEnded', code: 'GRAPHQL_VALIDATION_FAILED' }])
  })

  async function openedAt(payee: string): Promise<{ cursor: string }> {
    for await (const event of follow({ url, addresses: [payee] })) {
      if (event.__typename === 'FeedOpened') return event
    }
    throw new Error('the feed ended')
  }
})

test('the scalars are those of the schema', () => {
  const schema = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'))
  const own = Object.values(schema.getTypeMap()).filter(
    (type) => isScalarType(type) && !isSpecifiedScalarType(type),
  )
  expect(Object.keys(scalars).toSorted()).toEqual(own.map(({ name }) => name).toSorted())
  expectTypeOf<Scalars['UInt32']>().toEqualTypeOf<number>()
  expectTypeOf<Scalars['UInt64']>().toEqualTypeOf<string>()
  expectTypeOf<Scalars['JSON']>().toEqualTypeOf<unknown>()
})

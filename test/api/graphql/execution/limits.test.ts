import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  maxAliases,
  maxDirectives,
  maxDocumentDepth,
  maxDocumentLines,
  maxDocumentTokens,
  maxNameCharacters,
} from '../../../../src/api/graphql/execution/limits.ts'
import { graphql, socketClient } from '../../../support/client.ts'
import { startGateway, type TestGateway } from '../../../support/start-gateway.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

/** Returns a query with nested brackets, including those of the query and of its argument. */
const nested = (depth: number) =>
  `{ inspectBlock(input: { json: ${'['.repeat(depth - 3)}${']'.repeat(depth - 3)} }) { __typename } }`

describe('a document that is too large is refused with its code and place, before it is read', () => {
  const rows = [
    ['lists without end', nested(20_000), 'DOCUMENT_TOO_DEEP', 1 + maxDocumentDepth + 27],
    ['one list too many', nested(maxDocumentDepth + 1), 'DOCUMENT_TOO_DEEP', 128],
    ['fields without end', '{ a'.repeat(20_000), 'DOCUMENT_TOO_DEEP', 1 + 3 * maxDocumentDepth],
    ['arguments without end', '(a:'.repeat(20_000), 'DOCUMENT_TOO_DEEP', 1 + 3 * maxDocumentDepth],
    ['words without end', `{${' a'.repeat(maxDocumentTokens)}}`, 'GRAPHQL_PARSE_FAILED', undefined],
  ] as const
  test.each(rows)('%s', async (_name, query, code, column) => {
    const { data, errors } = await graphql(gateway.url, query)
    expect(data).toBeUndefined()
    const place = { line: 1, column: column ?? expect.any(Number) }
    expect(errors).toMatchObject([{ locations: [place], extensions: { code } }])
  })

  test.each(['\n', '\r', '\r\n'])('lines without end, each ended by %j', async (end) => {
    const { errors } = await graphql(gateway.url, `{${end.repeat(100_000)} unknown }`)
    const place = { line: maxDocumentLines + 1, column: 1 }
    expect(errors).toMatchObject([{ locations: [place], extensions: { code: 'TOO_MANY_LINES' } }])
  })

  test('also on a WebSocket, which stays open', async () => {
    const client = socketClient(gateway.url)
    const first = (query: string) => client.iterate({ query }).next()
    await expect(first(nested(20_000))).rejects.toMatchObject([
      { extensions: { code: 'DOCUMENT_TOO_DEEP', limit: maxDocumentDepth } },
    ])
    expect(await first('{ __typename }')).toMatchObject({
      value: { data: { __typename: 'Query' } },
    })
    await client.dispose()
  })
})

test('the errors of a document with long texts suggest no names', async () => {
  const documentOf = (text: string) => `{ ledgerUpdates(sort: "${text}") { totalCounts } }`
  const messagesOf = async (text: string) =>
    ((await graphql(gateway.url, documentOf(text))).errors ?? []).map(({ message }) => message)
  expect(await messagesOf('NEWEST')).toEqual([
    expect.stringContaining('Did you mean the enum value "NEWEST"?'),
    expect.stringContaining('Did you mean "totalCount"?'),
  ])
  const messages = await messagesOf('x'.repeat(70_000))
  expect(messages).not.toEqual([])
  expect(messages.join()).not.toContain('Did you mean')
})

describe('a document is refused with the place of the first element over the limit', () => {
  const aliases = (count: number) =>
    `{ ${Array.from({ length: count }, (_, n) => `a${n}: __typename`).join(' ')} }`
  const directives = (count: number) =>
    `{ ${'network @skip(if: false) { networkId } '.repeat(count)} }`
  const name = (length: number) => `{ ${'a'.repeat(length)}: __typename }`
  const rows = [
    ['aliases', aliases, maxAliases, 'TOO_MANY_ALIASES'],
    ['directives', directives, maxDirectives, 'TOO_MANY_DIRECTIVES'],
    ['names', name, maxNameCharacters, 'NAME_TOO_LONG'],
  ] as const

  test.each(rows)('of its %s', async (_name, documentOf, limit, code) => {
    expect((await graphql(gateway.url, documentOf(limit))).errors).toBeUndefined()
    const { data, errors } = await graphql(gateway.url, documentOf(limit + 1))
    expect(data).toBeUndefined()
    const place = { line: 1, column: expect.any(Number) }
    expect(errors).toMatchObject([{ locations: [place], extensions: { code, limit } }])
  })

  test.each(rows)(
    'of its %s on a socket and on a stream',
    async (_name, documentOf, limit, code) => {
      const query = `subscription ${documentOf(limit + 1)}`
      const client = socketClient(gateway.url)
      const refused = [{ extensions: { code, limit } }]
      await expect(client.iterate({ query }).next()).rejects.toMatchObject(refused)
      await client.dispose()
      const stream = await graphql(gateway.url, query, {}, { accept: 'text/event-stream' })
      expect(stream.errors).toMatchObject(refused)
    },
  )

  test('also when it is sent again', async () => {
    const send = () => graphql(gateway.url, aliases(maxAliases + 2))
    expect((await send()).errors).toEqual((await send()).errors)
  })
})

describe('a document is accepted', () => {
  const many = '('.repeat(200)
  const rows = [
    ['with as many brackets as allowed', nested(maxDocumentDepth)],
    ['with more brackets side by side', `{ ${'network { networkId } '.repeat(150)} }`],
    ['with brackets in a string', `{ a: __type(name: "\\"${many}") { name } }`],
    [
      'with brackets in a string of several lines',
      `{ a: __type(name: """\\"""${many}""") { name } }`,
    ],
    ['with brackets in a comment', `{ __typename } # ${many}`],
    ['with as many lines as allowed', `{ __typename }${'\r\n'.repeat(maxDocumentLines - 1)}`],
    ['with a thousand fields of one name', `{ ${'milestone { index } '.repeat(1_200)} }`],
    ['with brackets in a comment before another line', `# ${many}\n{ __typename }`],
  ] as const
  test.each(rows)('%s', async (_name, query) => {
    const { data, errors } = await graphql(gateway.url, query)
    expect(errors).toBeUndefined()
    expect(data).toBeDefined()
  })
})

describe('a value in a document is refused with its place', () => {
  const rows = [
    ['a number', '{ milestone(index: -1) { index } }', 20, 'index'],
    ['an id', '{ block(id: "0x00") { __typename } }', 13, 'id'],
    [
      'a value inside an input',
      '{ unspentOutputs(filter: { tag: "zz" }) { nodes { outputId } } }',
      33,
      'filter.tag',
    ],
    [
      'the default of a variable',
      'query ($id: BlockId! = "0x00") { block(id: $id) { id } }',
      24,
      '$id',
    ],
  ] as const
  test.each(rows)('%s', async (_name, query, column, argument) => {
    const { errors } = await graphql(gateway.url, query)
    const place = { locations: [{ line: 1, column }] }
    const extensions = { code: 'BAD_USER_INPUT', argument }
    expect(errors).toMatchObject([{ ...place, extensions }])
    expect(errors?.[0]?.message.startsWith(`${argument}: expected `)).toBe(true)
    // The errors of a document are cached.
    expect(await graphql(gateway.url, query)).toEqual({ errors })
  })

  test('beside an error of another kind, with its own code', async () => {
    const { errors } = await graphql(gateway.url, '{ nothing block(id: "0x00") { id } }')
    expect(errors?.map(({ extensions: { code } }) => code)).toEqual([
      'GRAPHQL_VALIDATION_FAILED',
      'BAD_USER_INPUT',
    ])
  })
})

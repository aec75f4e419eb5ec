import { buildClientSchema, getIntrospectionQuery } from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { maxOperationCost } from '../../../src/api/graphql/cost.ts'
import { fieldCost } from '../../../src/api/graphql/prices.ts'
import { maxConnectionCost } from '../../../src/api/limits.ts'
import { developmentKeys } from '../../../src/node/embedded/development.ts'
import { type GraphqlAnswer, graphql, socketClient } from '../../support/client.ts'
import { startGateway, type TestGateway } from '../../support/start-gateway.ts'
import { until } from '../../support/until.ts'
import { addressOf } from '../../support/wallet.ts'

let gateway: TestGateway
let address: string

beforeAll(async () => {
  gateway = await startGateway()
  address = JSON.stringify(addressOf(developmentKeys().faucet))
})
afterAll(() => gateway.close())

const versionsOfVersions =
  '{ chainRecords(first: 1000) { nodes { versions(first: 1000) { version } } } }'

const pages = (count: number, args: string) =>
  Array.from(
    { length: count },
    (_, n) => `p${n}: ledgerUpdates(address: ${address}, ${args}) { ...Page }`,
  )

const page = `fragment Page on LedgerUpdateConnection {
  edges { cursor node { seq ordinal class roles outputId isSpent output { outputId amount: spentSlot } } }
}`

const refused = (cost: unknown, field: unknown = expect.any(String)) => [
  { extensions: { code: 'OPERATION_TOO_COSTLY', cost, limit: maxOperationCost, field } },
]

describe('the cost is told', () => {
  test('where the request asks for it', async () => {
    const query = `{ ledgerUpdates(address: ${address}, first: 20) { nodes { seq } } }`
    const body = { query, extensions: { cost: true } }
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const { data, extensions } = (await response.json()) as GraphqlAnswer & { extensions: unknown }
    const { nodes } = data.ledgerUpdates
    expect(nodes.length).toBeGreaterThan(0)
    expect(extensions).toEqual({
      cost: {
        estimated: 20 * 10 + 20 * 2,
        // Of the share of this client, which other tests spend as well.
        remaining: expect.any(Number),
        limit: maxOperationCost,
        // The list, its nodes, and one field of each.
        fields: 2 + nodes.length,
        bytes: expect.any(Number),
      },
    })
  })

  test('with the field that costs most, by its names in the answer', async () => {
    const proofs = `{ network { networkId } ...F }
      fragment F on Query { all: unspentOutputs(first: 1000) { nodes { outputId p: proof { slot } } } }`
    const versions = (await graphql(gateway.url, versionsOfVersions)).errors
    expect(versions).toMatchObject(refused(expect.any(Number), 'chainRecords.nodes.versions'))
    const twice = proofs.replace('p: proof', 'p: proof { slot } q: proof { slot } r: proof')
    expect((await graphql(gateway.url, twice)).errors).toMatchObject(
      refused(expect.any(Number), 'all.nodes.p'),
    )
  })
})

describe('what asks for too much at once is refused before anything is read', () => {
  test('pages within pages', async () => {
    const { data, errors } = await graphql(gateway.url, versionsOfVersions)
    expect(data).toBeUndefined()
    // Each record costs ten, itself, and its versions, which cost ten and their number each.
    expect(errors).toMatchObject(refused(1_000 * (10 + 1 + 1_000 * (10 + 1))))
  })

  test.each([
    ['application/json', 200],
    ['application/graphql-response+json', 400],
  ])('to who accepts %s with %i', async (accept, status) => {
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept },
      body: JSON.stringify({ query: versionsOfVersions }),
    })
    expect(response.status).toBe(status)
    const { errors } = await response.json()
    expect(errors).toMatchObject(refused(11_011_000))
    expect(Object.keys(errors[0].extensions).sort()).toEqual(['code', 'cost', 'field', 'limit'])
  })

  test('many pages, by first, by last, and by a fragment', async () => {
    for (const args of ['first: 1000', 'last: 1000', 'first: 5000', 'last: 1000, first: 1000']) {
      const query = `{ ${pages(60, args)} } ${page}`
      const { data, errors } = await graphql(gateway.url, query)
      expect(data).toBeUndefined()
      expect(errors).toMatchObject(refused(60 * 1_000 * (10 + 12)))
    }
  })
  test('pages whose size is in a variable', async () => {
    const query = `query ($first: Int!) { ${pages(60, 'first: $first')} } ${page}`
    const { errors } = await graphql(gateway.url, query, { first: 1_000 })
    expect(errors).toMatchObject(refused(60 * 1_000 * (10 + 12)))
    expect((await graphql(gateway.url, query, { first: 10 })).errors).toBeUndefined()
  })

  test('on a WebSocket and on an event stream, which stay', async () => {
    const client = socketClient(gateway.url)
    const first = (query: string) => client.iterate({ query }).next()
    await expect(first(versionsOfVersions)).rejects.toMatchObject(refused(11_011_000))
    expect(await first('{ __typename }')).toMatchObject({
      value: { data: { __typename: 'Query' } },
    })
    await client.dispose()
    const headers = { accept: 'text/event-stream' }
    const answer = await graphql(gateway.url, versionsOfVersions, {}, headers)
    expect(answer.errors).toMatchObject(refused(11_011_000))
  })

  test('of several operations the one that is named', async () => {
    const query = `query Large ${versionsOfVersions} query Small { network { networkId } }`
    const named = async (operationName: string): Promise<GraphqlAnswer> => {
      const response = await fetch(`${gateway.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query, operationName }),
      })
      return response.json()
    }
    expect((await named('Large')).errors).toMatchObject(refused(11_011_000))
    expect((await named('Small')).errors).toBeUndefined()
  })
})

const times = (count: number, part: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => part(n)).join(' ')

describe('refused is what is dear by itself', () => {
  const proofs = (count: number) =>
    `{ unspentOutputs(first: 1000) { nodes { ${times(count, (n) => `a${n}: proof { __typename }`)} } } }`
  const inspections = `query ($bytes: Hex!) { ${times(
    150,
    (n) => `a${n}: inspectBlock(input: { bytes: $bytes }) { ... on BlockInspection { bytes } }`,
  )} }`
  const rows = [
    ['introspection with aliases on three levels', introspectionOnThreeLevels()],
    [
      'introspection over and over',
      `{ ${times(200, (n) => `a${n}: __schema { types { name } }`)} }`,
    ],
    [
      'introspection of one type over and over',
      `{ ${times(290, (n) => `a${n}: __type(name: "Query") { ...T }`)} }
      fragment T on __Type { fields { name args { name type { name } } type { name ofType { name } } } }`,
    ],
    ['proofs of many outputs, four times', proofs(4)],
    ['long texts', inspections],
    [
      'mana of many addresses',
      `{ ${times(30, (n) => `a${n}: address(address: "a") { mana { reason } }`)} }`,
    ],
    [
      'blocks as text',
      `query ($id: BlockId!) { ${times(280, (n) => `a${n}: block(id: $id) { bytes }`)} }`,
    ],
  ] as const
  const variables = { bytes: '0x00', id: `0x${'00'.repeat(36)}` }

  test.each(rows)('%s', async (_name, query) => {
    const { data, errors } = await graphql(gateway.url, query, variables)
    expect(data).toBeUndefined()
    expect(errors).toMatchObject(refused(expect.any(Number)))
  })

  test('but not a proof of each output of the largest page', async () => {
    expect((await graphql(gateway.url, proofs(1))).errors).toBeUndefined()
  })

  test('an event of a subscription counts as a full batch, on a socket and on a stream', async () => {
    const query = `subscription { ledgerUpdates { ... on LedgerUpdateBatch {
      ${times(20, (n) => `a${n}: updates { output { proof { __typename } } }`)} } } }`
    // The field itself; in each list 100 updates, of which each is read, has an output, and that a proof with one member.
    const cost = 1 + 20 * 100 * (10 + 1 + fieldCost.proof + 1)
    const client = socketClient(gateway.url)
    await expect(client.iterate({ query }).next()).rejects.toMatchObject(refused(cost))
    await client.dispose()
    const stream = await graphql(gateway.url, query, {}, { accept: 'text/event-stream' })
    expect(stream.errors).toMatchObject(refused(cost))
  })
})

describe('all subscriptions of a socket together', () => {
  const query = `subscription { ledgerUpdates { ... on FeedOpened { cursor } ... on LedgerUpdateBatch {
    ${times(15, (n) => `a${n}: updates { output { proof { __typename } } }`)} } } }`
  const each = 1 + 15 * 100 * (10 + 1 + fieldCost.proof + 1)
  const allowed = Math.floor(maxConnectionCost / each)

  test('may cost as much as some operations, and what is ended counts no more', async () => {
    const client = socketClient(gateway.url)
    const open = async () => {
      const events = client.iterate({ query })
      await events.next()
      return events
    }
    const opened = []
    for (let n = 0; n < allowed; n++) opened.push(await open())
    const code = 'SUBSCRIPTIONS_TOO_COSTLY'
    const cost = (allowed + 1) * each
    await expect(open()).rejects.toMatchObject([
      { extensions: { code, cost, limit: maxConnectionCost } },
    ])
    await opened[0]?.return?.()
    // The end of one may be seen after the beginning of the next.
    await until(() => open().catch(() => undefined), { what: 'another subscription opens' })
    await client.dispose()
  })
})

/** 3.2 KB, for which the answer would have some hundred million fields. */
function introspectionOnThreeLevels(): string {
  return `{ __schema { ${times(40, (n) => `a${n}: types { ...T }`)} } }
  fragment T on __Type { ${times(40, (n) => `b${n}: fields { ...F }`)} }
  fragment F on __Field { ${times(40, (n) => `c${n}: name`)} }`
}

describe('left to others are', () => {
  test('the introspection of tools, with everything that it can ask', async () => {
    const all = {
      descriptions: true,
      specifiedByUrl: true,
      directiveIsRepeatable: true,
      schemaDescription: true,
      inputValueDeprecation: true,
      oneOf: true,
    }
    for (const options of [{}, all]) {
      const { data, errors } = await graphql(gateway.url, getIntrospectionQuery(options))
      expect(errors).toBeUndefined()
      expect(buildClientSchema(data).getQueryType()?.name).toBe('Query')
    }
  })

  test('the largest page with much in it', async () => {
    const { data, errors } = await graphql(gateway.url, `{ ${pages(1, 'first: 1000')} } ${page}`)
    expect(errors).toBeUndefined()
    expect(data).toMatchObject({ p0: { edges: [{ node: { seq: expect.any(String) } }] } })
  })

  test('variables that do not fit', async () => {
    const query = `query ($first: Int!) { ${pages(60, 'first: $first')} } ${page}`
    const { errors } = await graphql(gateway.url, query, { first: 'many' })
    expect(errors).toMatchObject([{ message: expect.stringContaining('$first') }])
    expect(errors).not.toMatchObject(refused(expect.anything()))
  })
})

import { buildClientSchema, getIntrospectionQuery } from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  errorCost,
  fieldCost,
  maxOperationCost,
  operationCostBase,
  pageWork,
  writtenCost,
} from '../../../../src/api/graphql/execution/prices.ts'
import { maxConnectionCost } from '../../../../src/api/limits.ts'
import { present } from '../../../../src/lib/assert.ts'
import { developmentKeys } from '../../../../src/node/embedded/development.ts'
import { askBothWays } from '../../../support/both-ways.ts'
import { type GraphqlAnswer, graphql, socketClient } from '../../../support/client.ts'
import { startGateway, type TestGateway } from '../../../support/start-gateway.ts'
import { until } from '../../../support/until.ts'
import { loadVectors, type Vector } from '../../../support/vectors.ts'
import { addressOf } from '../../../support/wallet.ts'

let gateway: TestGateway
let address: string

beforeAll(async () => {
  gateway = await startGateway()
  address = JSON.stringify(addressOf(developmentKeys().faucet))
})
afterAll(() => gateway.close())

const versionsOfVersions =
  '{ chainRecords(first: 1000) { nodes { versions(first: 1000) { nodes { version } } } } }'

/** The list and its nodes; each record is read and has a list of versions with nodes, each of which is read and has one field. */
const costOfVersions = Math.ceil(
  operationCostBase + 1_000 + 2 * writtenCost + 1_000 * (1_000 + (2 + 2_000) * writtenCost),
)

/** Each update is read, and has an output that is read; its text has twelve names. */
const costOfPages = Math.ceil(
  operationCostBase + 60 * (1_000 + writtenCost + 1_000 * (1 + 12 * writtenCost)),
)

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

interface Reported extends GraphqlAnswer {
  readonly extensions: { readonly cost: { readonly spent: number; readonly estimated: number } }
}

async function reportOf(query: string): Promise<Reported> {
  const response = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, extensions: { cost: true } }),
  })
  return (await response.json()) as Reported
}

describe('the cost is reported', () => {
  test('if the request asks for it', async () => {
    const query = `{ ledgerUpdates(address: ${address}, first: 20) { nodes { seq } } }`
    const { data, extensions } = await reportOf(query)
    const { nodes } = data.ledgerUpdates
    expect(nodes.length).toBeGreaterThan(0)
    expect(extensions).toEqual({
      cost: {
        estimated: Math.ceil(operationCostBase + 20 + (1 + 20 * 2) * writtenCost),
        // The remaining share of this client, which other tests spend as well.
        remaining: expect.any(Number),
        limit: maxOperationCost,
        spent: expect.any(Number),
        // The list, its nodes, and one field of each.
        fields: 2 + nodes.length,
        bytes: expect.any(Number),
      },
    })
    // One row is read for each node, and some more to find them.
    const { spent, estimated } = extensions.cost
    expect(spent).toBeGreaterThanOrEqual(operationCostBase + nodes.length)
    expect(spent).toBeLessThanOrEqual(estimated)
  })

  test('including the price of the errors', async () => {
    const failing = (count: number) =>
      `{ ${Array.from({ length: count }, (_, n) => `a${n}: blocks(after: "x") { nodes { id } }`).join(' ')} }`
    const [one, many] = [await reportOf(failing(1)), await reportOf(failing(11))]
    expect(many.errors).toHaveLength(11)
    const more = many.extensions.cost.spent - one.extensions.cost.spent
    expect(more).toBeGreaterThanOrEqual(10 * errorCost)
  })

  test('including the work of each page, even if all pages read the same rows', async () => {
    const lists = (count: number) =>
      `{ milestone { ${times(count, (n) => `a${n}: updates(first: 1) { totalCount }`)} } }`
    const [one, many] = [await reportOf(lists(1)), await reportOf(lists(101))]
    const more = many.extensions.cost.spent - one.extensions.cost.spent
    expect(more).toBeGreaterThanOrEqual(100 * pageWork)
  })

  test('with the most expensive field, by its path in the response', async () => {
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

describe('an operation over the cost limit is refused before any read:', () => {
  test('pages within pages', async () => {
    const { data, errors } = await graphql(gateway.url, versionsOfVersions)
    expect(data).toBeUndefined()
    expect(errors).toMatchObject(refused(costOfVersions))
  })

  test.each([
    ['application/json', 200],
    ['application/graphql-response+json', 400],
  ])('for a client that accepts %s, with %i', async (accept, status) => {
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept },
      body: JSON.stringify({ query: versionsOfVersions }),
    })
    expect(response.status).toBe(status)
    const { errors } = await response.json()
    expect(errors).toMatchObject(refused(costOfVersions))
    expect(Object.keys(errors[0].extensions).sort()).toEqual(['code', 'cost', 'field', 'limit'])
  })

  test('many pages, by first, by last, and in a fragment', async () => {
    for (const args of ['first: 1000', 'last: 1000', 'first: 5000', 'last: 1000, first: 1000']) {
      const query = `{ ${pages(60, args)} } ${page}`
      const { data, errors } = await graphql(gateway.url, query)
      expect(data).toBeUndefined()
      expect(errors).toMatchObject(refused(costOfPages))
    }
  })
  test('pages whose size is in a variable', async () => {
    const query = `query ($first: Int!) { ${pages(60, 'first: $first')} } ${page}`
    const { errors } = await graphql(gateway.url, query, { first: 1_000 })
    expect(errors).toMatchObject(refused(costOfPages))
    expect((await graphql(gateway.url, query, { first: 10 })).errors).toBeUndefined()
  })

  test('an error in each element of a page', async () => {
    const lists = times(10, (n) => `a${n}: blocks(sort: $sort, first: 1) { nodes { id } }`)
    const query = `query ($sort: Sort = NEWEST) { milestones(first: 1000) { nodes { ${lists} } } }`
    const { errors } = await graphql(gateway.url, query, { sort: null })
    expect(errors).toMatchObject(refused(expect.any(Number), 'milestones.nodes.a0'))
    expect((await graphql(gateway.url, query)).errors).toBeUndefined()
  })

  test('an error in each element of a page, for a condition that is null', async () => {
    const edges = times(10, (n) => `a${n}: milestone { index @include(if: $all) }`)
    const query = `query ($all: Boolean = true) { ledgerUpdates(first: 1000) { nodes { ${edges} } } }`
    const { errors } = await graphql(gateway.url, query, { all: null })
    expect(errors).toMatchObject(refused(expect.any(Number), 'ledgerUpdates.nodes.a0.index'))
    expect((await graphql(gateway.url, query)).errors).toBeUndefined()
  })

  test('on a WebSocket and on an event stream, which stay open', async () => {
    const client = socketClient(gateway.url)
    const first = (query: string) => client.iterate({ query }).next()
    await expect(first(versionsOfVersions)).rejects.toMatchObject(refused(costOfVersions))
    expect(await first('{ __typename }')).toMatchObject({
      value: { data: { __typename: 'Query' } },
    })
    await client.dispose()
    const headers = { accept: 'text/event-stream' }
    const response = await graphql(gateway.url, versionsOfVersions, {}, headers)
    expect(response.errors).toMatchObject(refused(costOfVersions))
  })

  test('the named one of several operations', async () => {
    const query = `query Large ${versionsOfVersions} query Small { network { networkId } }`
    const named = async (operationName: string): Promise<GraphqlAnswer> => {
      const response = await fetch(`${gateway.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query, operationName }),
      })
      return response.json()
    }
    expect((await named('Large')).errors).toMatchObject(refused(costOfVersions))
    expect((await named('Small')).errors).toBeUndefined()
  })
})

const times = (count: number, part: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => part(n)).join(' ')

describe('an expensive field is refused:', () => {
  const proofs = (count: number) =>
    `{ unspentOutputs(first: 1000) { nodes { ${times(count, (n) => `a${n}: proof { __typename }`)} } } }`
  const inspections = `query ($bytes: Hex!) { ${times(
    20,
    (n) => `a${n}: inspectBlock(input: { bytes: $bytes }) { __typename }`,
  )} }`
  const rows = [
    ['introspection with aliases on three levels', introspectionOnThreeLevels()],
    ['repeated introspection', `{ ${times(200, (n) => `a${n}: __schema { types { name } }`)} }`],
    [
      'repeated introspection of one type',
      `{ ${times(290, (n) => `a${n}: __type(name: "Query") { ...T }`)} }
      fragment T on __Type { fields { name args { name type { name } } type { name ofType { name } } } }`,
    ],
    ['proofs of many outputs, four times', proofs(4)],
    ['blocks with room for many signatures', inspections],
    [
      'mana of many addresses',
      `{ ${times(30, (n) => `a${n}: address(address: "a") { mana { reason } }`)} }`,
    ],
  ] as const

  test.each(rows)('%s', async (_name, query) => {
    const { data, errors } = await graphql(gateway.url, query, {
      bytes: `0x${'00'.repeat(32_768)}`,
    })
    expect(data).toBeUndefined()
    expect(errors).toMatchObject(refused(expect.any(Number)))
  })

  test('but not a proof of each output of the largest page', async () => {
    expect((await graphql(gateway.url, proofs(1))).errors).toBeUndefined()
  })

  test('an event of a subscription counts as a full batch, on a socket and on a stream', async () => {
    const query = `subscription { ledgerUpdates { ... on LedgerUpdateBatch {
      ${times(20, (n) => `a${n}: updates { output { proof { __typename } } }`)} } } }`
    // The field itself; in each list 100 updates, each of which is read and has an output that is read, with a proof of one member.
    const each = 1 + writtenCost + 1 + fieldCost.proof.field + 2 * writtenCost
    const cost = Math.ceil(operationCostBase + writtenCost + 20 * (writtenCost + 100 * each))
    const client = socketClient(gateway.url)
    await expect(client.iterate({ query }).next()).rejects.toMatchObject(refused(cost))
    await client.dispose()
    const stream = await graphql(gateway.url, query, {}, { accept: 'text/event-stream' })
    expect(stream.errors).toMatchObject(refused(cost))
  })
})

describe('an operation whose cost exceeds the limit while it runs ends with its own error', () => {
  const bytes = wrongBlock()
  const query = `query ($bytes: Hex!) { ${times(
    290,
    (n) => `a${n}: inspectBlock(input: { bytes: $bytes }) { __typename }`,
  )} }`
  const exceeded = [{ extensions: { code: 'OPERATION_COST_EXCEEDED', limit: maxOperationCost } }]

  test('over HTTP', async () => {
    const { data, errors } = await graphql(gateway.url, query, { bytes })
    expect(data).toBeUndefined()
    expect(errors).toMatchObject(exceeded)
  })

  test('on a socket', async () => {
    const client = socketClient(gateway.url)
    const { value } = await client.iterate({ query, variables: { bytes } }).next()
    expect(value.errors).toMatchObject(exceeded)
    await client.dispose()
  })
})

describe('all subscriptions of a socket together', () => {
  const query = `subscription { ledgerUpdates { ... on FeedOpened { cursor } ... on LedgerUpdateBatch {
    ${times(15, (n) => `a${n}: updates { output { proof { __typename } } }`)} } } }`
  const perUpdate = 1 + writtenCost + 1 + fieldCost.proof.field + 2 * writtenCost
  const each = Math.ceil(operationCostBase + writtenCost + 15 * (writtenCost + 100 * perUpdate))
  const allowed = Math.floor(maxConnectionCost / each)

  test('may cost up to a limit, and a subscription that has ended no longer counts', async () => {
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
    // The server may detect the end of one subscription after the beginning of the next one.
    await until(() => open().catch(() => undefined), { what: 'another subscription opens' })
    await client.dispose()
  })
})

/** Creates a block with two wrong signatures, which are checked twice: its price covers more signatures, but not the second check. */
function wrongBlock(): string {
  const vectors = loadVectors<Vector & { readonly bytes: string }>('transactions')
  const named = vectors.find(({ name }) => name === 'block/transaction/minimal')
  const { bytes } = present(named, 'a block with a transaction of one input')
  // After the signature of the input come eight bytes of mana, and the signature of the block with its type and key.
  const following = bytes.slice(-2 * (8 + 1 + 32 + 64), -128)
  const wrong = '00'.repeat(64)
  return `${bytes.slice(0, -following.length - 2 * 128)}${wrong}${following}${wrong}`
}

/** Returns a query of 3.2 KB whose response would have some hundred million fields. */
function introspectionOnThreeLevels(): string {
  return `{ __schema { ${times(40, (n) => `a${n}: types { ...T }`)} } }
  fragment T on __Type { ${times(40, (n) => `b${n}: fields { ...F }`)} }
  fragment F on __Field { ${times(40, (n) => `c${n}: name`)} }`
}

describe('the cost limit allows', () => {
  test('the introspection of tools, with all its options', async () => {
    const all = {
      descriptions: true,
      specifiedByUrl: true,
      directiveIsRepeatable: true,
      schemaDescription: true,
      inputValueDeprecation: true,
      oneOf: true,
    }
    for (const options of [{}, all]) {
      const { data, errors } = await askBothWays(gateway.url, getIntrospectionQuery(options))
      expect(errors).toBeUndefined()
      expect(buildClientSchema(data).getQueryType()?.name).toBe('Query')
    }
  })

  test('the largest page with many fields', async () => {
    const { data, errors } = await graphql(gateway.url, `{ ${pages(1, 'first: 1000')} } ${page}`)
    expect(errors).toBeUndefined()
    expect(data).toMatchObject({ p0: { edges: [{ node: { seq: expect.any(String) } }] } })
  })

  test.each([
    ['blocks', 'query ($given: Sort) { status { mode } blocks(sort: $given) { nodes { id } } }'],
    [
      '__type',
      'query ($given: String = "Query") { status { mode } __type(name: $given) { name } }',
    ],
  ])('null for an argument of %s, which is an error of this field alone', async (field, query) => {
    const { data, errors } = await askBothWays(gateway.url, query, { given: null })
    expect(data).toEqual({ status: { mode: 'EMBEDDED' }, [field]: null })
    expect(errors).toMatchObject([{ path: [field], extensions: { code: 'BAD_USER_INPUT' } }])
  })

  test('variables of the wrong type, which have their own error', async () => {
    const query = `query ($first: Int!) { ${pages(60, 'first: $first')} } ${page}`
    const { errors } = await graphql(gateway.url, query, { first: 'many' })
    expect(errors).toMatchObject([{ message: expect.stringContaining('$first') }])
    expect(errors).not.toMatchObject(refused(expect.anything()))
  })
})

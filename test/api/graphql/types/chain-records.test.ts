import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addressText, chainIdOf } from '../../../support/chain-ids.ts'
import { type GraphqlAnswer, graphql } from '../../../support/client.ts'
import { createSettableClock } from '../../../support/settable-clock.ts'
import { startGateway, type TestGateway } from '../../../support/start-gateway.ts'

const clock = createSettableClock(1_800_000_000_000_000_000n)
let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway({ clock })
})
afterAll(() => gateway.close())

const mutation = `mutation ($chainId: String!, $record: ChainRecordInput!) {
  setChainRecord(chainId: $chainId, record: $record) {
    chainId accessNodes isActive version setBy setAt
  }
}`

describe('a chain record', () => {
  test('is returned by the mutation', async () => {
    const chainId = chainIdOf(100)
    const { data } = await set(chainId, ['a', 'b'], true)
    expect(data.setChainRecord).toEqual({
      chainId,
      accessNodes: ['a', 'b'],
      isActive: true,
      version: 1,
      setBy: 'test',
      setAt: '2027-01-15T08:00:00.000Z',
    })
  })

  test('is returned although another mutation of the same document is refused', async () => {
    const record = '{ accessNodes: [], isActive: true }'
    const { data, errors } = await graphql(
      gateway.url,
      `mutation {
        set: setChainRecord(chainId: "${chainIdOf(110)}", record: ${record}) { version }
        refused: setChainRecord(chainId: "no address", record: ${record}) { version }
      }`,
      {},
      await writer(),
    )
    expect(data).toEqual({ set: { version: 1 }, refused: null })
    expect(errors).toMatchObject([
      { path: ['refused'], extensions: { code: 'CHAIN_ID_NOT_BECH32' } },
    ])
  })

  test('is returned by the query in its newest version, and in all versions with author and time', async () => {
    const chainId = chainIdOf(101)
    await set(chainId, ['a'], true)
    clock.advance(1_500_000_000n)
    await set(chainId, [], false)
    const { data } = await graphql(
      gateway.url,
      `query ($chainId: String!) {
        chainRecord(chainId: $chainId) {
          version isActive
          versions { nodes { version accessNodes isActive setBy setAt } }
          newer: versions(first: 1) { nodes { version } pageInfo { endCursor hasNextPage } }
        }
      }`,
      { chainId: chainId.toUpperCase() },
    )
    expect(data.chainRecord).toEqual({
      version: 2,
      isActive: false,
      versions: {
        nodes: [
          {
            version: 2,
            accessNodes: [],
            isActive: false,
            setBy: 'test',
            setAt: '2027-01-15T08:00:01.500Z',
          },
          {
            version: 1,
            accessNodes: ['a'],
            isActive: true,
            setBy: 'test',
            setAt: '2027-01-15T08:00:00.000Z',
          },
        ],
      },
      newer: {
        nodes: [{ version: 2 }],
        pageInfo: { endCursor: expect.any(String), hasNextPage: true },
      },
    })
    const { endCursor } = data.chainRecord.newer.pageInfo
    const older = await graphql(
      gateway.url,
      `query ($chainId: String!, $after: String!) {
        chainRecord(chainId: $chainId) {
          versions(first: 1, after: $after) {
            nodes { version } pageInfo { hasNextPage hasPreviousPage }
          }
        }
      }`,
      { chainId, after: endCursor },
    )
    expect(older.data.chainRecord.versions).toEqual({
      nodes: [{ version: 1 }],
      pageInfo: { hasNextPage: false, hasPreviousPage: true },
    })
  })

  test.each([2_147_483_646, 2_147_483_647, 2_147_483_648, 4_294_967_295])(
    'has no version %i, which the column of the database may not hold',
    async (version) => {
      const chainId = chainIdOf(103)
      await set(chainId, [], true)
      const encoded = (text: string) => Buffer.from(text, 'latin1').toString('base64url')
      const { data, errors } = await graphql(
        gateway.url,
        `query ($id: ID!, $chainId: String!, $cursor: String!, $negative: String!) {
          node(id: $id) { id }
          chainRecord(chainId: $chainId) {
            newer: versions(before: $cursor) { nodes { version } pageInfo { hasNextPage } }
            older: versions(after: $negative) { nodes { version } pageInfo { hasPreviousPage } }
          }
        }`,
        {
          id: encoded(`ChainRecord:${chainId}/${version}`),
          chainId,
          cursor: encoded(`version ${chainId}.${version}`),
          negative: encoded(`version ${chainId}.-${version}`),
        },
      )
      expect(errors).toBeUndefined()
      expect(data).toEqual({
        node: null,
        chainRecord: {
          newer: { nodes: [], pageInfo: { hasNextPage: true } },
          older: { nodes: [], pageInfo: { hasPreviousPage: true } },
        },
      })
    },
  )

  test.each(['a/b', 'a:b', 'a/b:c'])(
    'is found by its global id if its chain id begins with %s',
    async (hrp) => {
      const chainId = addressText(8, 104, { hrp })
      await set(chainId, [], true)
      const { data } = await graphql(gateway.url, `{ chainRecord(chainId: "${chainId}") { id } }`)
      const { id } = data.chainRecord
      const query =
        'query ($id: ID!) { node(id: $id) { id ... on ChainRecord { chainId version } } }'
      const found = await graphql(gateway.url, query, { id })
      expect(found).toEqual({ data: { node: { id, chainId, version: 1 } } })
    },
  )

  test('is null for a chain without one', async () => {
    const { data } = await graphql(gateway.url, chainRecord(chainIdOf(102)))
    expect(data).toEqual({ chainRecord: null })
  })
})

describe('all chain records', () => {
  const chainIds = Array.from({ length: 7 }, (_, i) => addressText(24, 200 + i, { hrp: 'page' }))

  beforeAll(async () => {
    for (const chainId of chainIds) await set(chainId, [], true)
  })

  test.each([1, 2, 3, 100])('are returned once and in order by pages of %i', async (first) => {
    const ids: string[] = []
    let after: string | null = null
    let pages = 0
    let hasNextPage = true
    while (hasNextPage) {
      const { data } = await graphql(gateway.url, listing, { first, after })
      const { nodes, edges, pageInfo } = data.chainRecords
      expect(pageInfo.hasPreviousPage).toBe(pages > 0)
      expect(pageInfo.startCursor).toBe(edges[0].cursor)
      expect(pageInfo.endCursor).toBe(edges.at(-1).cursor)
      ids.push(...nodes.map((node: { chainId: string }) => node.chainId))
      after = pageInfo.endCursor
      hasNextPage = pageInfo.hasNextPage
      pages += 1
    }
    expect(ids).toEqual([...new Set(ids)].sort())
    expect(ids).toEqual(expect.arrayContaining(chainIds))
  })

  test('have an empty page that reports its next page', async () => {
    const { data } = await graphql(gateway.url, listing, { first: 0, after: null })
    expect(data.chainRecords).toMatchObject({ nodes: [], pageInfo: { hasNextPage: true } })
  })
})

describe('a request for chain records is refused:', () => {
  const rows: readonly (readonly [string, string, object, string, object])[] = [
    [
      'a malformed chain id',
      mutation,
      { chainId: 'x', record: { accessNodes: [], isActive: true } },
      'CHAIN_ID_NOT_BECH32',
      { path: ['setChainRecord'] },
    ],
    [
      'an id that is not of a chain',
      mutation,
      { chainId: addressText(0, 1), record: { accessNodes: [], isActive: true } },
      'CHAIN_ID_NOT_A_CHAIN',
      { extensions: { addressType: 0, length: 33 } },
    ],
    [
      'an access node that is too long',
      mutation,
      { chainId: chainIdOf(1), record: { accessNodes: ['a', 'b'.repeat(257)], isActive: true } },
      'CHAIN_RECORD_MALFORMED',
      { extensions: { member: 'accessNodes.1' } },
    ],
    [
      'a missing member',
      mutation,
      { chainId: chainIdOf(1), record: { accessNodes: [] } },
      'BAD_USER_INPUT',
      { message: expect.stringContaining('isActive') },
    ],
    [
      'a list of the wrong type',
      mutation,
      { chainId: chainIdOf(1), record: { accessNodes: [1], isActive: true } },
      'BAD_USER_INPUT',
      { message: expect.stringContaining('accessNodes[0]') },
    ],
    ['a query with a malformed chain id', chainRecord('x'), {}, 'CHAIN_ID_NOT_BECH32', {}],
    [
      'too large a page',
      '{ chainRecords(first: 1001) { nodes { chainId } } }',
      {},
      'PAGE_SIZE_OUT_OF_RANGE',
      { extensions: { limit: 1000, value: 1001 } },
    ],
    [
      'a negative page size',
      '{ chainRecords(first: -1) { nodes { chainId } } }',
      {},
      'PAGE_SIZE_OUT_OF_RANGE',
      {},
    ],
    [
      'a malformed cursor',
      '{ chainRecords(after: "x") { nodes { chainId } } }',
      {},
      'CURSOR_MALFORMED',
      {},
    ],
  ]
  test.each(rows)('%s', async (_name, query, variables, code, error) => {
    const response = await graphql(gateway.url, query, variables, await writer())
    expect(codesOf(response)).toEqual([code])
    expect(response.errors?.[0]).toMatchObject(error)
  })

  test('without a token', async () => {
    const variables = { chainId: chainIdOf(1), record: { accessNodes: [], isActive: true } }
    expect(codesOf(await graphql(gateway.url, mutation, variables))).toEqual(['TOKEN_MISSING'])
  })

  test('without the permission', async () => {
    const variables = { chainId: chainIdOf(1), record: { accessNodes: [], isActive: true } }
    const headers = { authorization: await gateway.token('block:submit') }
    const response = await graphql(gateway.url, mutation, variables, headers)
    expect(codesOf(response)).toEqual(['PERMISSION_MISSING'])
  })
})

const listing = `query ($first: Int!, $after: String) {
  chainRecords(first: $first, after: $after) {
    nodes { chainId }
    edges { cursor node { chainId } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  }
}`

function chainRecord(chainId: string): string {
  return `{ chainRecord(chainId: "${chainId}") { version } }`
}

async function set(
  chainId: string,
  accessNodes: readonly string[],
  isActive: boolean,
): Promise<GraphqlAnswer> {
  return graphql(
    gateway.url,
    mutation,
    { chainId, record: { accessNodes, isActive } },
    await writer(),
  )
}

async function writer() {
  return { authorization: `Bearer ${await gateway.token('chain-record:write')}` }
}

function codesOf(response: GraphqlAnswer): readonly string[] {
  return (response.errors ?? []).map(({ extensions }) => extensions.code)
}

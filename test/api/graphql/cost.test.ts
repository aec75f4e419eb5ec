import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { maxOperationCost } from '../../../src/api/graphql/cost.ts'
import { developmentKeys } from '../../../src/node/embedded/development.ts'
import { type GraphqlAnswer, graphql, socketClient } from '../../support/client.ts'
import { startGateway, type TestGateway } from '../../support/start-gateway.ts'
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

const refused = (cost: unknown) => [
  { extensions: { code: 'OPERATION_TOO_COSTLY', cost, limit: maxOperationCost } },
]

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
    expect(Object.keys(errors[0].extensions).sort()).toEqual(['code', 'cost', 'limit'])
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

describe('left to others are', () => {
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

import { execute, parse } from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type Budget,
  createBudget,
  maxAnswerBytes,
  maxAnswerFields,
} from '../../../../src/api/graphql/execution/budget.ts'
import { schema } from '../../../../src/api/graphql/schema.ts'
import { present } from '../../../../src/lib/assert.ts'
import type { Hex } from '../../../../src/lib/hex.ts'
import { openSignatureChecker } from '../../../../src/node/signatures.ts'
import { chainIdOf } from '../../../support/chain-ids.ts'
import { graphql, socketClient } from '../../../support/client.ts'
import { fullSelection } from '../../../support/full-selection.ts'
import { startGateway, type TestGateway } from '../../../support/start-gateway.ts'
import { vectorNetworks } from '../../../support/vector-networks.ts'
import { loadVectors, type Vector } from '../../../support/vectors.ts'

/** A response is counted while it is built, and none is larger than the limit. */

let gateway: TestGateway
let authorization: string
beforeAll(async () => {
  gateway = await startGateway()
  authorization = await gateway.token('chain-record:write')
  await set(1, nodesOf(1_000, 256))
})
afterAll(() => gateway.close())

const chainId = JSON.stringify(chainIdOf(1))
const times = (count: number, part: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => part(n)).join(' ')
/** Returns a query; each field of its response has a quarter of a megabyte. */
const records = (count: number) =>
  `{ ${times(count, (n) => `a${n}: chainRecord(chainId: ${chainId}) { accessNodes }`)} }`
const tooLarge = { code: 'ANSWER_TOO_LARGE', unit: 'bytes', limit: maxAnswerBytes }

describe('a response of more than 16 MiB is refused', () => {
  test.each([
    ['application/json', 200],
    ['application/graphql-response+json', 400],
  ])('over HTTP for a client that accepts %s, with %i', async (accept, status) => {
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept },
      body: JSON.stringify({ query: records(65) }),
    })
    expect(response.status).toBe(status)
    const message = expect.stringContaining('16777216 bytes')
    expect(await response.json()).toEqual({ errors: [{ message, extensions: tooLarge }] })
  })

  test('on a socket, which stays open', async () => {
    const client = socketClient(gateway.url)
    const first = async (query: string) => (await client.iterate({ query }).next()).value
    expect(await first(records(65))).toMatchObject({ errors: [{ extensions: tooLarge }] })
    expect(await first('{ __typename }')).toMatchObject({ data: { __typename: 'Query' } })
    await client.dispose()
  })

  test('on an event stream', async () => {
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query: records(65) }),
    })
    const [, text = ''] = /data: (.*)\n/.exec(await response.text()) ?? []
    expect(JSON.parse(text).errors).toMatchObject([{ extensions: tooLarge }])
  })

  test('as an event of a subscription, which continues with the next one', async () => {
    const query = `subscription { chainRecordChanged {
      ${times(65, (n) => `a${n}: record { accessNodes }`)} } }`
    const client = socketClient(gateway.url)
    const results = client.iterate({ query })
    const events: (readonly unknown[] | undefined)[] = []
    let isOver = false
    const changing = (async () => {
      for (let n = 0; !isOver; n++) await set(2, n % 2 === 0 ? nodesOf(1_000, 256) : [])
    })()
    for await (const { errors } of results) {
      events.push(errors)
      isOver = events.length > 3
      if (isOver) break
    }
    await changing
    await client.dispose()
    expect(events.filter((errors) => errors === undefined).length).toBeGreaterThanOrEqual(1)
    const refused = events.filter((errors) => errors !== undefined)
    expect(refused.length).toBeGreaterThanOrEqual(1)
    for (const errors of refused) expect(errors).toMatchObject([{ extensions: tooLarge }])
  })
})

test('a slightly smaller response is sent', async () => {
  const response = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: records(64) }),
  })
  const text = await response.text()
  expect(text.length).toBeGreaterThan(0.98 * maxAnswerBytes)
  expect(Object.keys(JSON.parse(text).data)).toHaveLength(64)
})

interface BlockVector extends Vector {
  readonly params: string
  readonly bytes: Hex
}

describe('the count of a response', () => {
  const vectors = ['blocks', 'transactions'].flatMap((file) => loadVectors<BlockVector>(file))
  const signatures = openSignatureChecker({ queueLimit: 64 })
  afterAll(() => signatures.close())

  async function inspect({ params, bytes }: BlockVector, query: string, budget: Budget) {
    const network = present(vectorNetworks.get(params), params)
    const { bech32Hrp } = network.parameters
    const services = { signatures, source: { network }, parameters: { bech32Hrp } }
    const contextValue = { services, budget, requestId: 'test', share: { client: 'test' } }
    const document = parse(query)
    return await execute({ schema, document, contextValue, variableValues: { bytes } })
  }

  const { name, fragments } = fullSelection(schema, 'InspectBlockResult', 20, [
    // This test has no ledger.
    'BlockInspection.refusal',
    'TransactionInspection.verdict',
  ])
  const whole = `query ($bytes: Hex!) {
    inspectBlock(input: { bytes: $bytes }) { ...${name} } } ${fragments}`

  test.each(vectors.filter((_, i) => i % 20 === 0))(
    'is never less than its length: $name',
    async (vector) => {
      let counted = 0
      const budget = createBudget()
      budget.spend = (bytes) => {
        counted += bytes
      }
      const { data, errors } = await inspect(vector, whole, budget)
      expect(errors).toBeUndefined()
      const { length } = JSON.stringify(data)
      expect(counted).toBeGreaterThanOrEqual(length - '{"inspectBlock":}'.length)
      expect(counted).toBeLessThan(3 * length)
    },
  )

  test('includes the fields of lists without a price', async () => {
    const many = present(
      vectors.find(({ name }) => name === 'block/transaction/outputs-128'),
      'outputs',
    )
    const query = `query ($bytes: Hex!) { ${times(20, (n) => `i${n}: inspectBlock(input: { bytes: $bytes }) { ...B }`)} }
      fragment B on BlockInspection { block { body { ... on BasicBlockBody { payload {
        ... on SignedTransactionPayload { transaction { outputs { ... on BasicOutput {
          ${times(250, (n) => `a${n}: amount`)} } } } } } } } } }`
    const { errors } = await inspect(many, query, createBudget())
    const limit = { code: 'ANSWER_TOO_LARGE', unit: 'fields', limit: maxAnswerFields }
    expect(errors?.[0]).toMatchObject({ extensions: limit })
  })
})

function nodesOf(count: number, length: number): readonly string[] {
  return Array.from({ length: count }, () => 'n'.repeat(length))
}

async function set(chain: number, accessNodes: readonly string[]): Promise<void> {
  const query = `mutation ($chainId: String!, $nodes: [String!]!) {
    setChainRecord(chainId: $chainId, record: { accessNodes: $nodes, isActive: true }) { version }
  }`
  const variables = { chainId: chainIdOf(chain), nodes: accessNodes }
  const { errors } = await graphql(gateway.url, query, variables, { authorization })
  expect(errors).toBeUndefined()
}

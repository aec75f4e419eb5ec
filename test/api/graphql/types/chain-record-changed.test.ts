import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chainIdOf } from '../../../support/chain-ids.ts'
import { graphql, socketClient } from '../../../support/client.ts'
import { startGateway, type TestGateway } from '../../../support/start-gateway.ts'

let gateway: TestGateway
let authorization: string
beforeAll(async () => {
  gateway = await startGateway()
  authorization = await gateway.token('chain-record:write')
})
afterAll(() => gateway.close())

const subscription = `subscription ($chainIds: [String!], $after: String) {
  chainRecordChanged(chainIds: $chainIds, after: $after) {
    cursor record { chainId version isActive setBy }
  }
}`

interface Change {
  readonly cursor: string
  readonly record: { readonly chainId: string; readonly version: number }
}

test('a subscription to chain records sends every change in order, and continues from any cursor (22)', async () => {
  const client = socketClient(gateway.url)
  const start = await tipCursor()
  for (const chain of [1, 2, 1, 3, 1]) await set(chain)
  const all = await take(client, 5, { after: start })
  expect(all.map(({ record }) => [record.chainId, record.version])).toEqual([
    [chainIdOf(1), 1],
    [chainIdOf(2), 1],
    [chainIdOf(1), 2],
    [chainIdOf(3), 1],
    [chainIdOf(1), 3],
  ])
  expect(await tipCursor()).toBe(all.at(-1)?.cursor)
  const live = take(client, 3, { after: all[2]?.cursor })
  await set(4)
  expect((await live).map(({ record }) => record.chainId)).toEqual([3, 1, 4].map(chainIdOf))
  const some = await take(client, 2, {
    after: start,
    chainIds: [chainIdOf(2).toUpperCase(), chainIdOf(3)],
  })
  expect(some.map(({ record }) => record.chainId)).toEqual([chainIdOf(2), chainIdOf(3)])
  await client.dispose()
})

/** Returns the cursor to begin from. */
async function tipCursor(): Promise<string> {
  return (await graphql(gateway.url, '{ chainRecordTipCursor }')).data.chainRecordTipCursor
}

describe('a subscription to chain records refuses', () => {
  const rows: readonly (readonly [string, object, string])[] = [
    ['a malformed cursor', { after: 'x' }, 'CURSOR_MALFORMED'],
    ['an empty list of chains', { chainIds: [] }, 'CHAIN_ID_COUNT'],
    ['too many chains', { chainIds: Array(101).fill(chainIdOf(1)) }, 'CHAIN_ID_COUNT'],
    ['a malformed chain id', { chainIds: ['x'] }, 'CHAIN_ID_NOT_BECH32'],
  ]
  test.each(rows)('%s', async (_name, variables, code) => {
    const client = socketClient(gateway.url)
    const results = []
    for await (const result of client.iterate({
      query: subscription,
      variables: { ...variables },
    })) {
      results.push(result)
    }
    expect(results.map(({ errors }) => errors?.[0]?.extensions?.code)).toEqual([code])
    await client.dispose()
  })

  test('a cursor of ledger updates', async () => {
    const { data } = await graphql(gateway.url, '{ milestone(index: 0) { lastCursor } }')
    const client = socketClient(gateway.url)
    const results = client.iterate({
      query: subscription,
      variables: { after: data.milestone.lastCursor },
    })
    const { value } = await results.next()
    expect(value.errors[0].extensions.code).toBe('CURSOR_OF_ANOTHER_LOG')
    await client.dispose()
  })
})

test('a change of another version is refused', async () => {
  await set(50)
  const { errors } = await sendMutation(50, 7)
  expect(errors?.[0]?.extensions).toMatchObject({ code: 'CHAIN_RECORD_STALE', version: 1 })
  expect((await sendMutation(50, 1)).data.setChainRecord.version).toBe(2)
})

test('version 0 creates a record, and replaces none', async () => {
  expect(await sendMutation(51, 0)).toEqual({ data: { setChainRecord: { version: 1 } } })
  const { errors } = await sendMutation(51, 0)
  expect(errors?.[0]?.extensions).toMatchObject({ code: 'CHAIN_RECORD_STALE', version: 1 })
})

async function take(
  client: ReturnType<typeof socketClient>,
  count: number,
  variables: Record<string, unknown>,
): Promise<Change[]> {
  const changes: Change[] = []
  if (count === 0) return changes
  const results = client.iterate<{ chainRecordChanged: Change }>({ query: subscription, variables })
  for await (const { data } of results) {
    if (data) changes.push(data.chainRecordChanged)
    if (changes.length === count) break
  }
  return changes
}

async function set(chain: number): Promise<void> {
  expect((await sendMutation(chain)).errors).toBeUndefined()
}

function sendMutation(chain: number, ifVersion?: number) {
  const document = `mutation ($chainId: String!, $ifVersion: UInt32) {
    setChainRecord(chainId: $chainId, record: { accessNodes: [], isActive: true }, ifVersion: $ifVersion) { version }
  }`
  const variables = { chainId: chainIdOf(chain), ifVersion }
  return graphql(gateway.url, document, variables, { authorization })
}

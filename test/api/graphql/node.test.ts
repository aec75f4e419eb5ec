import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { decodeNodeId, encodeNodeId } from '../../../src/api/graphql/node-id.ts'
import { schema } from '../../../src/api/graphql/schema.ts'
import { present } from '../../../src/lib/assert.ts'
import { slotOfId } from '../../../src/protocol/ids.ts'
import type { BlockId, OutputId } from '../../../src/protocol/primitives.ts'
import { chainIdOf } from '../../support/chain-ids.ts'
import { graphql } from '../../support/client.ts'
import { leastOf } from '../../support/least-of.ts'
import { startGateway, type TestGateway } from '../../support/start-gateway.ts'
import { acceptedId, post } from '../../support/submit.ts'
import {
  addressOf,
  blockOf,
  genesisOutputs,
  issuer,
  offerOf,
  ownedBy,
  paymentOf,
  slotNow,
  untilCommitted,
  user,
} from '../../support/wallet.ts'

/** Global ids: every object that has one is found by it. */

let gateway: TestGateway
let ids: readonly { readonly __typename: string; readonly id: string }[]

beforeAll(async () => {
  gateway = await startGateway()
  const { blockId, created } = await pay()
  await untilCommitted(gateway.url, slotOfId(blockId as BlockId))
  const chainId = chainIdOf(300)
  const mutation = `mutation ($chainId: String!) {
    setChainRecord(chainId: $chainId, record: { accessNodes: ["a"], isActive: true }) { version } }`
  await graphql(
    gateway.url,
    mutation,
    { chainId },
    {
      authorization: `Bearer ${await gateway.token('chain-record:write')}`,
    },
  )
  const { data } = await graphql(gateway.url, everyNode, {
    chainId,
    blockId,
    outputId: created,
    accountId: issuer.accountId,
    address: addressOf(user(1)),
  })
  const { ledgerUpdates, validators, ...others } = data
  const listed = [...ledgerUpdates.nodes, validators.nodes[0]]
  ids = [...Object.values<(typeof ids)[number]>(others), ...listed]
})
afterAll(() => gateway.close())

const everyNode = `query ($blockId: BlockId!, $outputId: OutputId!, $accountId: AccountId!,
    $address: String!, $chainId: String!) {
  block(id: $blockId) { __typename id }
  output(id: $outputId) { __typename id }
  account(id: $accountId) { __typename id }
  address(address: $address) { __typename id }
  milestone { __typename id }
  epoch { __typename id }
  validators { nodes { __typename id } }
  chainRecord(chainId: $chainId) { __typename id }
  ledgerUpdates(address: $address, first: 1) { nodes { __typename id } }
}`

async function pay() {
  const offer = await offerOf(gateway.url)
  const [spend] = await genesisOutputs(gateway.url, user(1))
  const { payload, created } = paymentOf(offer.network, {
    spend: present(spend, 'a funded output'),
    key: user(1),
    outputs: [ownedBy(user(1), 1_000_000_000n)],
    creationSlot: slotNow(offer.network),
  })
  const blockId = await acceptedId(await post(gateway.url, blockOf(offer, payload).bytes))
  return { blockId, created: present(created[0], 'an output') as OutputId }
}

test('a text that is too long for a global id is not decoded each time that a request names it', () => {
  const text = Buffer.from(':'.repeat(700_000)).toString('base64url')
  const decoded = Array.from({ length: 5_000 }, () => decodeNodeId(text).typename)
  expect(new Set(decoded)).toEqual(new Set(['']))
})

describe('a node', () => {
  test('exists here for every type', async () => {
    const node = present(schema.getType('Node'), 'the interface')
    const types = schema.getPossibleTypes(node as never).map(({ name }) => name)
    const { data } = await graphql(
      gateway.url,
      'query ($id: ID!) { node(id: $id) { ... on Block { transaction { __typename id } } } }',
      { id: present(ids[0], 'the block').id },
    )
    ids = [...ids, data.node.transaction]
    // The other types need a larger ledger: `chains.test.ts`.
    const others = ['Anchor', 'Delegation', 'Nft', 'Token']
    expect([...ids.map(({ __typename }) => __typename), ...others].sort()).toEqual(types.sort())
  })

  test('is found by its id, alone and among others', async () => {
    const texts = ids.map(({ id }) => id)
    const query = `query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }`
    expect((await graphql(gateway.url, query, { ids: texts })).data.nodes).toEqual(ids)
    for (const one of ids) {
      const alone = 'query ($id: ID!) { node(id: $id) { __typename id } }'
      expect((await graphql(gateway.url, alone, one)).data.node).toEqual(one)
    }
  })

  const unknown = [
    encodeNodeId('Block', `0x${'12'.repeat(36)}`),
    encodeNodeId('Block', '0x12'),
    encodeNodeId('Transaction', `0x${'12'.repeat(36)}`),
    encodeNodeId('Output', `0x${'12'.repeat(38)}`),
    encodeNodeId('Output', 'x'),
    encodeNodeId('Account', `0x${'12'.repeat(32)}`),
    encodeNodeId('Milestone', '4294967295'),
    encodeNodeId('Milestone', '-1'),
    encodeNodeId('Epoch', '4294967295'),
    encodeNodeId('Validator', `0x${'12'.repeat(32)}`),
    encodeNodeId('Address', '0xff'),
    encodeNodeId('ChainRecord', `${chainIdOf(301)}/1`),
    encodeNodeId('ChainRecord', `${chainIdOf(300).toUpperCase()}/1`),
    encodeNodeId('ChainRecord', 'x/y'),
    encodeNodeId('LedgerUpdate', 'x'),
  ]
  test('that does not exist is null', async () => {
    const query = `query ($ids: [ID!]!) { nodes(ids: $ids) { id } }`
    const { data, errors } = await graphql(gateway.url, query, { ids: unknown })
    expect(errors).toBeUndefined()
    expect(data.nodes).toEqual(unknown.map(() => null))
  })

  const malformed = ['', 'x', '%', btoa('Query:1'), btoa('Block'), `${btoa('Milestone:1')}=`]
  test.each(malformed)('is refused by an id that this gateway does not write: %s', async (id) => {
    const { data, errors } = await graphql(
      gateway.url,
      '{ network { networkId } }'.replace('{', `{ node(id: ${JSON.stringify(id)}) { id }`),
    )
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['NODE_ID_MALFORMED'])
    // The rest of the response is complete.
    expect(data).toEqual({ node: null, network: { networkId: expect.any(String) } })
  })

  test('is refused alone in a list with an id that this gateway does not write', async () => {
    const query = `query ($ids: [ID!]!) { nodes(ids: $ids) { id } network { networkId } }`
    const epoch = encodeNodeId('Epoch', '0')
    const { data, errors } = await graphql(gateway.url, query, { ids: [epoch, 'x'] })
    expect(errors?.map(({ path, extensions }) => ({ path, extensions }))).toEqual([
      { path: ['nodes', 1], extensions: { code: 'NODE_ID_MALFORMED', argument: 'ids' } },
    ])
    const network = { networkId: expect.any(String) }
    expect(data).toEqual({ nodes: [{ id: epoch }, null], network })
  })

  test('is refused in thousands of errors without holding the event loop', async () => {
    const fields = Array.from({ length: 4 }, (_, n) => `a${n}: nodes(ids: $ids) { id }`)
    // Other ids each time, so that no cached response helps.
    let requests = 0
    const ask = async () => {
      const ids = Array.from({ length: 1_000 }, (_, n) => `x${n}-${requests}`)
      requests++
      return await graphql(gateway.url, `query ($ids: [ID!]!) { ${fields.join(' ')} }`, { ids })
    }
    await ask()
    const places = Array.from({ length: 4_000 }, (_, n) => `a${n % 4}.${n >> 2}`).sort()
    // Processor time of this thread: other processes may have the cores.
    const usedMs = () => {
      const { user, system } = process.threadCpuUsage()
      return (user + system) / 1_000
    }
    const longestTurn = async () => {
      let [longest, isOver] = [0, false]
      const watch = (before: number) => {
        const now = usedMs()
        longest = Math.max(longest, now - before)
        if (!isOver) setImmediate(watch, now)
      }
      setImmediate(watch, usedMs())
      const { errors } = await ask()
      isOver = true
      expect(errors?.map(({ path }) => path?.join('.')).sort()).toEqual(places)
      expect(new Set(errors?.map((error) => JSON.stringify({ ...error, path: 0 }))).size).toBe(4)
      return longest
    }
    // Measured: 15 ms, and 170 ms when the server copied each error.
    expect(await leastOf(longestTurn, 90)).toBeLessThan(90)
  })

  test('is refused in a request of more than 1000 ids', async () => {
    const { errors } = await graphql(
      gateway.url,
      `query ($ids: [ID!]!) { nodes(ids: $ids) { id } }`,
      { ids: Array.from({ length: 1_001 }, () => unknown[0]) },
    )
    expect(errors?.map(({ extensions }) => extensions)).toEqual([
      { code: 'PAGE_SIZE_OUT_OF_RANGE', argument: 'ids', value: 1_001, limit: 1_000 },
    ])
  })
})

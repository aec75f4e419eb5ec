import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { present } from '../../../../src/lib/assert.ts'
import type { BasicOutput } from '../../../../src/protocol/outputs.ts'
import type { OutputId } from '../../../../src/protocol/primitives.ts'
import { graphql } from '../../../support/client.ts'
import { startFromGenesis } from '../../../support/genesis-gateway.ts'
import { startGateway, type TestGateway } from '../../../support/start-gateway.ts'
import { acceptedId, post } from '../../../support/submit.ts'
import { until } from '../../../support/until.ts'
import {
  addressOf,
  blockOf,
  genesisOutputs,
  issuer,
  offerOf,
  ownedBy,
  paymentOf,
  slotNow,
  user,
} from '../../../support/wallet.ts'

let gateway: TestGateway
let created: readonly OutputId[]
let slot: number

beforeAll(async () => {
  gateway = await startGateway()
  const offer = await offerOf(gateway.url)
  slot = slotNow(offer.network)
  const [spend] = await genesisOutputs(gateway.url, user(1))
  const transfer = paymentOf(offer.network, {
    spend: present(spend, 'a funded output'),
    key: user(1),
    outputs: outputsAt(slot),
    creationSlot: slot,
  })
  created = transfer.created
  await acceptedId(await post(gateway.url, blockOf(offer, transfer.payload).bytes))
  const filter = { tag: '0xcafe', committed: true }
  await until(async () => (await ask({ filter })).nodes.length > 0, { deadlineMs: 55_000 })
})
afterAll(() => gateway.close())

/** One plain output, one with every condition, and one with a sender and a tag. */
function outputsAt(now: number): readonly BasicOutput[] {
  const [one, two] = [user(1), user(2)].map(({ publicKeyHash: pubKeyHash }) => ({
    type: 0 as const,
    pubKeyHash,
  }))
  const [sender, other] = [present(one, 'one'), present(two, 'two')]
  const conditioned = ownedBy(user(2), 300_000_000n)
  return [
    ownedBy(user(1), 600_000_000n),
    {
      ...conditioned,
      unlockConditions: [
        ...conditioned.unlockConditions,
        { type: 1, returnAddress: sender, amount: 1_000_000n },
        { type: 2, slot: now + 500 },
        { type: 3, returnAddress: sender, slot: now + 1_000 },
      ],
    },
    {
      ...ownedBy(user(1), 100_000_000n),
      unlockConditions: [{ type: 0, address: other }],
      features: [
        { type: 0, address: sender },
        { type: 4, tag: '0xcafe' },
      ],
    },
  ]
}

async function ask(variables: object) {
  const query = `query ($filter: UnspentOutputFilter, $first: Int, $after: String) {
    unspentOutputs(filter: $filter, first: $first, after: $after) {
      nodes { outputId } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`
  const { data, errors } = await graphql(gateway.url, query, variables)
  if (errors !== undefined) throw new Error(errors.map(({ extensions }) => extensions.code).join())
  return data.unspentOutputs
}

async function idsOf(filter: object): Promise<OutputId[]> {
  const { nodes } = await ask({ filter })
  return nodes.map(({ outputId }: { outputId: OutputId }) => outputId)
}

describe('unspent outputs are found', () => {
  const [one, two] = [addressOf(user(1)), addressOf(user(2))]
  const filters: readonly (readonly [string, (now: number) => object, readonly number[]])[] = [
    ['by tag', () => ({ tag: '0xcafe' }), [2]],
    ['by tag and another kind', () => ({ tag: '0xcafe', kinds: ['NFT'] }), []],
    ['by sender', () => ({ addresses: [{ role: 'SENDER', address: one }] }), [2]],
    [
      'by sender and owner',
      () => ({
        addresses: [
          { role: 'SENDER', address: one },
          { role: 'OWNER', address: two },
        ],
      }),
      [2],
    ],
    [
      'by the receiver of a storage deposit',
      () => ({ addresses: [{ role: 'STORAGE_DEPOSIT_RETURN', address: one }] }),
      [1],
    ],
    [
      'by the owner after expiration',
      () => ({ addresses: [{ role: 'EXPIRATION_RETURN', address: one }] }),
      [1],
    ],
    ['by owner and a timelock', () => ({ heldBy: two, hasTimelock: true }), [1]],
    [
      'by owner, without expiration and recent',
      (now) => ({ heldBy: two, hasExpiration: false, createdAfter: now - 1 }),
      [2],
    ],
    [
      'by address that may unlock it, recent',
      (now) => ({ unlockableBy: one, createdAfter: now - 1 }),
      [0, 1],
    ],
    [
      'by the end of a timelock',
      (now) => ({ timelockedAfter: now + 499, timelockedBefore: now + 501 }),
      [1],
    ],
    ['by the slot of a timelock itself', (now) => ({ timelockedAfter: now + 500 }), []],
    ['by an expiration', (now) => ({ expiresAfter: now + 999, expiresBefore: now + 1_001 }), [1]],
    ['by a deposit', () => ({ hasStorageDepositReturn: true }), [1]],
    ['by a native token', () => ({ hasNativeToken: true }), []],
  ]

  test.each(filters)('%s', async (_name, filter, indices) => {
    const expected = indices.map((index) => present(created[index], 'created'))
    expect((await idsOf(filter(slot))).sort()).toEqual([...expected].sort())
    expect((await idsOf({ ...filter(slot), committed: true })).sort()).toEqual([...expected].sort())
  })

  test('by the id of a chain', async () => {
    const query = `query ($filter: UnspentOutputFilter) { unspentOutputs(filter: $filter) {
      nodes { content { ... on AccountOutput { accountId } } } } }`
    const filter = { chainId: issuer.accountId, kinds: ['ACCOUNT'] }
    const { data } = await graphql(gateway.url, query, { filter })
    expect(data.unspentOutputs.nodes).toEqual([{ content: { accountId: issuer.accountId } }])
  })

  test('page by page, each once', async () => {
    const all = await idsOf({})
    expect(all).toHaveLength(15)
    const paged: OutputId[] = []
    let after: string | null = null
    for (let pages = 0; ; pages++) {
      const { nodes, pageInfo } = await ask({ first: 4, after })
      paged.push(...nodes.map(({ outputId }: { outputId: OutputId }) => outputId))
      expect(pageInfo.hasPreviousPage).toBe(pages > 0)
      after = pageInfo.endCursor
      if (!pageInfo.hasNextPage) break
    }
    expect(paged).toEqual(all)
    expect(await ask({ first: 0 })).toEqual({
      nodes: [],
      pageInfo: { hasNextPage: true, hasPreviousPage: false, startCursor: null, endCursor: null },
    })
  })

  const namedBy = (length: number) =>
    Array.from({ length }, () => ({ role: 'OWNER', address: one }))

  test('with as many addresses as a filter may have', async () => {
    expect(await idsOf({ addresses: namedBy(20) })).toEqual(await idsOf({ addresses: namedBy(1) }))
    expect(await idsOf({ addresses: namedBy(1) })).not.toEqual([])
  })

  const refused = [
    ['a cursor of something else', { after: 'abc' }, 'CURSOR_MALFORMED'],
    ['a page that is too large', { first: 1_001 }, 'PAGE_SIZE_OUT_OF_RANGE'],
    ['a negative page size', { first: -1 }, 'PAGE_SIZE_OUT_OF_RANGE'],
    ['an address of another network', { filter: { heldBy: 'smr1qq' } }, 'ADDRESS_MALFORMED'],
    [
      'a malformed address in a list',
      { filter: { addresses: [{ role: 'SENDER', address: 'tst1' }] } },
      'ADDRESS_MALFORMED',
    ],
    [
      'more addresses than a filter may have',
      { filter: { addresses: namedBy(21) } },
      'FILTER_ADDRESS_COUNT',
    ],
    ['two filters by owner', { filter: { heldBy: one, unlockableBy: one } }, 'FILTER_AMBIGUOUS'],
    ['half a byte of a tag', { filter: { tag: '0xabc' } }, 'BAD_USER_INPUT'],
  ] as const

  test.each(refused)('not with %s', async (_name, variables, code) => {
    await expect(ask(variables)).rejects.toThrow(code)
  })
})

test('an expired output can be unlocked by its return address, and no longer by its former owner', async () => {
  const returnAddress = { type: 0, pubKeyHash: user(2).publicKeyHash } as const
  const expiringIn = (expiry: number): BasicOutput => {
    const { unlockConditions, ...rest } = ownedBy(user(1), 1_000_000n)
    return {
      ...rest,
      unlockConditions: [...unlockConditions, { type: 3, returnAddress, slot: expiry }],
    }
  }
  const { url, close } = await startFromGenesis([expiringIn(1), expiringIn(1_000_000)])
  const query = `query ($address: String!) {
    unspentOutputs(filter: { unlockableBy: $address, kinds: [BASIC] }) {
      nodes { content { unlockConditions { ... on ExpirationUnlockCondition { slot } } } } } }`
  const slotsOf = async (address: string) => {
    const { data } = await graphql(url, query, { address })
    const nodes: { content: { unlockConditions: { slot?: number }[] } }[] =
      data.unspentOutputs.nodes
    return nodes.flatMap(({ content }) =>
      content.unlockConditions.flatMap(({ slot }) => slot ?? []),
    )
  }
  expect(await slotsOf(addressOf(user(1)))).toEqual([1_000_000])
  expect((await slotsOf(addressOf(user(2)))).sort()).toEqual([1, 1_000_000])
  await close()
})

describe('a ledger update', () => {
  test('has its output, and the balance of its address at that time', async () => {
    const query = `query ($address: String!) { ledgerUpdates(address: $address, sort: OLDEST) {
      nodes { isSpent balance output { outputId isSpent } } }
      mentioned: ledgerUpdates(address: $address, class: MENTIONED) { nodes { balance } } }`
    const { data } = await graphql(gateway.url, query, { address: addressOf(user(1)) })
    expect(data.ledgerUpdates.nodes).toMatchObject([
      { isSpent: false, balance: '1000000000', output: { isSpent: true } },
      { balance: '600000000' },
      { balance: '600000000' },
    ])
    expect(data.mentioned.nodes).toEqual([{ balance: null }, { balance: null }])
  })
})

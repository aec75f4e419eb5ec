import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { encodeNodeId } from '../../../../src/api/graphql/node-id.ts'
import { present } from '../../../../src/lib/assert.ts'
import { type Hex, hexToBytes } from '../../../../src/lib/hex.ts'
import { encodeBech32 } from '../../../../src/protocol/bech32.ts'
import { addressKey, transactionOf } from '../../../../src/protocol/ids.ts'
import { balancesAt, type ModelOutput, ownerInSlot } from '../../../support/balance-model.ts'
import { askBothWays } from '../../../support/both-ways.ts'
import { type ModelChain, startChainWorld } from '../../../support/chain-world.ts'
import { graphql } from '../../../support/client.ts'
import { type LedgerWorld, worldParameters } from '../../../support/ledger-world.ts'
import { restJson } from '../../../support/rest.ts'
import { startGateway } from '../../../support/start-gateway.ts'
import { untilCommitted } from '../../../support/wallet.ts'

/** Chains of every kind, created, changed and destroyed by players, and compared with a list of all outputs. */

const roots = { 1: 'account', 2: 'anchor', 3: 'token', 4: 'nft', 5: 'delegation' } as const
const scalars = {
  ...{ 1: 'AccountId', 2: 'AnchorId', 3: 'FoundryId', 4: 'NftId', 5: 'DelegationId' },
} as const

const { minCommittableAge } = worldParameters

let world: LedgerWorld
let slot: number
let chains: readonly ModelChain[]

beforeAll(async () => {
  ;({ world, slot, chains } = await startChainWorld({ players: 50, rounds: 9 }))
}, 240_000)
afterAll(() => world.close())

function ask(document: string, variables: object = {}) {
  return askBothWays(world.gateway.url, document, variables)
}

const text = (key: Hex) => encodeBech32('tst', hexToBytes(key))

test('there are chains of every kind, some of them changed and some destroyed', () => {
  for (const type of [1, 2, 3, 4, 5] as const) {
    const some = chains.filter((chain) => chain.type === type)
    const ended = some.filter(({ states }) => states.at(-1)?.spentSlot !== undefined)
    const longest = Math.max(...some.map(({ states }) => states.length))
    expect([type, some.length > 3, ended.length > 0, longest > 1]).toEqual([type, true, true, true])
  }
})

describe('a chain', () => {
  test('is found by its id with its newest output and all its states, also when it is destroyed', async () => {
    for (const { id, type, states } of chains) {
      const { data, errors } = await ask(
        `query ($id: ${scalars[type]}!) { chain: ${roots[type]}(id: $id) {
          chainId isDestroyed destroyedSlot output { outputId } lastOutput { outputId }
          history(sort: OLDEST, first: 1000) { totalCount pageInfo { hasNextPage hasPreviousPage }
            nodes { number outputId transactionId milestoneIndex
              output { outputId } transaction { transactionId } milestone { index } } } } }`,
        { id },
      )
      expect(errors).toBeUndefined()
      const last = present(states.at(-1), 'a state')
      const isDestroyed = last.spentSlot !== undefined
      expect(data.chain).toEqual({
        chainId: id,
        isDestroyed,
        destroyedSlot: last.spentSlot ?? null,
        output: isDestroyed ? null : { outputId: last.outputId },
        lastOutput: { outputId: last.outputId },
        history: {
          totalCount: `${states.length}`,
          pageInfo: { hasNextPage: false, hasPreviousPage: false },
          nodes: states.map(({ outputId, bookedSlot }, i) => ({
            number: `${i + 1}`,
            outputId,
            transactionId: transactionOf(outputId),
            milestoneIndex: bookedSlot,
            output: { outputId },
            transaction: { transactionId: transactionOf(outputId) },
            milestone: { index: bookedSlot },
          })),
        },
      })
    }
  })

  test('has its history page by page, in both directions', async () => {
    const longest = chains.toSorted((a, b) => b.states.length - a.states.length)[0]
    const { id, type, states } = present(longest, 'a chain')
    expect(states.length).toBeGreaterThan(3)
    const numbers = states.map((_, i) => `${i + 1}`)
    for (const sort of ['NEWEST', 'OLDEST'] as const) {
      const expected = sort === 'NEWEST' ? numbers.toReversed() : numbers
      const page = async (args: string) => {
        const { data } = await ask(
          `query ($id: ${scalars[type]}!) { ${roots[type]}(id: $id) { history(sort: ${sort}, ${args}) {
            nodes { number } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }`,
          { id },
        )
        return data[roots[type]].history
      }
      expect(await readForward(page)).toEqual(expected.map((number) => ({ number })))
      expect(await readBackward(page)).toEqual(expected.map((number) => ({ number })))
    }
  })

  test('refuses a cursor of the history of another chain', async () => {
    const [first, other] = chains.filter(({ type }) => type === 4)
    const document = `query ($id: NftId!, $after: String) { nft(id: $id) {
      history(after: $after) { pageInfo { endCursor } } } }`
    const { data } = await ask(document, { id: first?.id })
    const after = data.nft.history.pageInfo.endCursor
    expect((await ask(document, { id: first?.id, after })).errors).toBeUndefined()
    const { errors } = await ask(document, { id: other?.id, after })
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['CURSOR_MALFORMED'])
  })

  test('of another kind is not found, nor is one that never existed', async () => {
    const [account] = chains.filter(({ type }) => type === 1)
    const unknown = `0x${'12'.repeat(32)}`
    const { data } = await ask(
      `query ($id: NftId!, $unknown: DelegationId!, $token: FoundryId!, $one: AccountId!) {
        nft(id: $id) { nftId } delegation(id: $unknown) { delegationId } token(id: $token) { tokenId }
        account(id: $one) { accountId } }`,
      { id: account?.id, unknown, one: unknown, token: `0x${'12'.repeat(38)}` },
    )
    expect(data).toEqual({ nft: null, delegation: null, token: null, account: null })
  })
})

interface PageOf {
  readonly nodes: readonly unknown[]
  readonly pageInfo: Readonly<Record<string, unknown>>
}

/** Reads all pages from the first to the last. */
async function readForward(page: (args: string) => Promise<PageOf>): Promise<unknown[]> {
  const found: unknown[] = []
  for (let after = ''; ; ) {
    const { nodes, pageInfo } = await page(`first: 2${after}`)
    expect(pageInfo.hasPreviousPage).toBe(found.length > 0)
    found.push(...nodes)
    if (pageInfo.hasNextPage !== true) return found
    after = `, after: "${pageInfo.endCursor}"`
  }
}

/** Reads all pages from the last to the first. */
async function readBackward(page: (args: string) => Promise<PageOf>): Promise<unknown[]> {
  const found: unknown[] = []
  for (let before = ''; ; ) {
    const { nodes, pageInfo } = await page(`last: 3${before}`)
    expect(pageInfo.hasNextPage).toBe(found.length > 0)
    found.unshift(...nodes)
    if (pageInfo.hasPreviousPage !== true) return found
    before = `, before: "${pageInfo.startCursor}"`
  }
}

/** Returns the chains that are not destroyed, ordered by the position of their newest output. */
function existing(matches: (last: ModelOutput, chain: ModelChain) => boolean): ModelChain[] {
  const place = ({ states }: ModelChain) => {
    const last = present(states.at(-1), 'a state')
    return `${last.bookedSlot + 1_000} ${last.outputId}`
  }
  return chains
    .filter((chain) => {
      const last = present(chain.states.at(-1), 'a state')
      // A basic output with an implicit account is in no list of accounts.
      return last.spentSlot === undefined && last.output.type !== 0 && matches(last, chain)
    })
    .sort((a, b) => (place(a) < place(b) ? -1 : 1))
}

/** Returns the owner of an output in the newest milestone, or the owner that it had when it was spent. */
function ownerOf({ output, spentSlot = slot }: ModelOutput): Hex {
  return ownerInSlot(output, spentSlot, minCommittableAge)
}

const idsOf = (list: readonly ModelChain[]) => list.map(({ id }) => ({ chainId: id }))

async function expectList(
  field: (args: string) => string,
  path: readonly string[],
  expected: readonly ModelChain[],
): Promise<void> {
  for (const sort of ['OLDEST', 'NEWEST'] as const) {
    const page = async (args: string) => {
      const document = `{ ${field(`sort: ${sort}, ${args}`)} }`
      const { data, errors } = await ask(
        document.replace(
          'PAGE',
          '{ nodes { chainId } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }',
        ),
      )
      expect(errors).toBeUndefined()
      return path.reduce((value, member) => value[member], data)
    }
    const known = new Set<unknown>(chains.map(({ id }) => id))
    // The genesis has accounts as well.
    const ownChains = (list: unknown[]) =>
      list.filter((one) => known.has((one as { chainId: unknown }).chainId))
    const inOrder = sort === 'OLDEST' ? idsOf(expected) : idsOf(expected).toReversed()
    expect(ownChains(await readForward(page))).toEqual(inOrder)
    expect(ownChains(await readBackward(page))).toEqual(inOrder)
  }
}

describe('lists of chains that are not destroyed', () => {
  test('are complete in both directions, for each kind', async () => {
    const lists = { 1: 'accounts', 2: 'anchors', 3: 'tokens', 4: 'nfts', 5: 'delegations' } as const
    for (const type of [1, 2, 3, 4, 5] as const) {
      const expected = existing((_last, chain) => chain.type === type)
      expect(expected.length).toBeGreaterThan(1)
      await expectList((args) => `${lists[type]}(${args}) PAGE`, [lists[type]], expected)
    }
  })

  test('are filtered by issuer, validator and owner', async () => {
    const issuers = existing(({ output }) => output.type === 4).flatMap(({ states }) =>
      issuerIn(states[0]),
    )
    const issuer = present(issuers[0], 'an issuer')
    const filter = `filter: { issuer: "${text(issuer)}" }`
    const collection = existing((last) => last.output.type === 4 && issuerIn(last)[0] === issuer)
    expect(collection.length).toBeGreaterThan(0)
    await expectList((args) => `nfts(${filter}, ${args}) PAGE`, ['nfts'], collection)

    const [first] = existing(({ output }) => output.type === 5)
    const output = first?.states.at(-1)?.output
    if (output?.type !== 5) throw new Error('no delegation')
    const owner = addressKey(output.unlockConditions[0]?.address ?? { type: 0, pubKeyHash: '0x' })
    const both = `filter: { validator: "${output.validatorAddress.accountId}", owner: "${text(owner)}" }`
    const owned = existing((last) => last.output.type === 5 && ownerOf(last) === owner)
    await expectList((args) => `delegations(${both}, ${args}) PAGE`, ['delegations'], owned)
    const nobody = `filter: { validator: "0x${'12'.repeat(32)}", owner: "${text(owner)}" }`
    await expectList((args) => `delegations(${nobody}, ${args}) PAGE`, ['delegations'], [])
    const { errors } = await ask('{ nfts(filter: { issuer: "iota1" }) { nodes { nftId } } }')
    expect(errors?.[0]?.extensions).toMatchObject({
      code: 'ADDRESS_MALFORMED',
      argument: 'filter.issuer',
    })
  })

  test('of an address have the chains that it owns, and an address of a chain has that chain', async () => {
    const owners = new Set(
      existing(({ output }) => output.type === 4 || output.type === 5).map(({ states }) =>
        ownerOf(present(states.at(-1), 'a state')),
      ),
    )
    for (const owner of [...owners].slice(0, 12)) {
      const bech32 = text(present(owner, 'an owner'))
      for (const [type, list] of [
        [4, 'nfts'],
        [5, 'delegations'],
      ] as const) {
        const owned = existing((last) => last.output.type === type && ownerOf(last) === owner)
        await expectList(
          (args) => `address(address: "${bech32}") { ${list}(${args}) PAGE }`,
          ['address', list],
          owned,
        )
      }
    }
    for (const { id, type, states } of chains) {
      const kinds = { 1: '0x08', 2: '0x18', 4: '0x10' } as const
      if (type === 3 || type === 5) continue
      const { data } = await ask(
        `query ($address: String!) { address(address: $address) { chain { __typename chainId isDestroyed } } }`,
        { address: text(`${kinds[type]}${id.slice(2)}`) },
      )
      const isDestroyed = states.at(-1)?.spentSlot !== undefined
      const __typename = { 1: 'Account', 2: 'Anchor', 4: 'Nft' }[type]
      expect(data.address.chain).toEqual({ __typename, chainId: id, isDestroyed })
    }
  })
})

function issuerIn(state: ModelOutput | undefined): Hex[] {
  const output = state?.output
  if (output?.type !== 4) return []
  return output.immutableFeatures.flatMap((one) =>
    one.type === 1 ? [addressKey(one.address)] : [],
  )
}

describe('a token', () => {
  test('is found by any beginning of its id, also one as long as the id of a block', async () => {
    const ids = chains.flatMap(({ id, type }) => (type === 3 ? [id] : []))
    for (const digits of [70, 71, 72, 73, 76]) {
      for (const id of ids) {
        const text = id.slice(0, 2 + digits)
        const { data } = await ask(
          'query ($text: String!) { search(text: $text) { hits { thing { ... on Token { tokenId } } } } }',
          { text },
        )
        const expected = ids.filter((one) => one.startsWith(text))
        const found = data.search.hits.map(({ thing }: { thing: object }) => thing)
        expect(found).toEqual(expected.toSorted().map((tokenId) => ({ tokenId })))
      }
    }
  })

  test('refuses a cursor of the holders of another token', async () => {
    const document = `query ($id: FoundryId!, $after: String) { token(id: $id) {
      holders(after: $after) { pageInfo { endCursor } } } }`
    const ids = chains.flatMap(({ id, type }) => (type === 3 ? [id] : []))
    const answers = await Promise.all(ids.map((id) => ask(document, { id })))
    const cursors = answers.map(({ data }) => data.token.holders.pageInfo.endCursor)
    const held = cursors.findIndex((cursor) => cursor !== null)
    const after = cursors[held]
    expect((await ask(document, { id: ids[held], after })).errors).toBeUndefined()
    const { errors } = await ask(document, { id: ids.find((_, n) => n !== held), after })
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['CURSOR_MALFORMED'])
  })

  test('has its supply, its account, and its holders with their shares, the largest first', async () => {
    const balances = balancesAt(world.outputs, slot, minCommittableAge)
    for (const { id, states } of chains.filter(({ type }) => type === 3)) {
      const last = present(states.at(-1), 'a state')
      if (last.output.type !== 3) throw new Error('no foundry')
      const { mintedTokens, meltedTokens, maximumSupply } = last.output.tokenScheme
      const circulating = last.spentSlot === undefined ? mintedTokens - meltedTokens : 0n
      const { data } = await ask(
        `query ($id: FoundryId!) { token(id: $id) { tokenId mintedTokens meltedTokens maximumSupply
          circulatingSupply serialNumber accountId account { foundries { nodes { tokenId } } }
          holders(first: 1000) { nodes { address { bech32 } amount share } } } }`,
        { id },
      )
      const accountId = `0x${id.slice(4, 68)}`
      const hex = (amount: bigint) => `0x${amount.toString(16)}`
      expect(data.token).toMatchObject({
        tokenId: id,
        mintedTokens: hex(mintedTokens),
        meltedTokens: hex(meltedTokens),
        maximumSupply: hex(maximumSupply),
        circulatingSupply: hex(circulating),
        serialNumber: last.output.serialNumber,
        accountId,
      })
      const foundries = existing(
        (one, chain) => one.output.type === 3 && chain.id.slice(4, 68) === accountId.slice(2),
      )
      expect(data.token.account.foundries.nodes).toEqual(
        foundries.toReversed().map((one) => ({ tokenId: one.id })),
      )
      const holders = [...balances].flatMap(([address, { tokens }]) => {
        const own = tokens[id as never] as
          | { available: bigint; timelocked: bigint; expiring: bigint }
          | undefined
        const amount = own === undefined ? 0n : own.available + own.timelocked + own.expiring
        return amount === 0n ? [] : [{ address, amount }]
      })
      holders.sort((a, b) => Number(b.amount - a.amount) || (a.address < b.address ? 1 : -1))
      expect(data.token.holders.nodes).toEqual(
        holders.map(({ address, amount }) => ({
          address: { bech32: text(address) },
          amount: hex(amount),
          share: expect.closeTo(Number(amount) / Number(circulating), 10),
        })),
      )
    }
  })
})

test('a validator has its delegations, and a past epoch has its rewards', async () => {
  const { url } = world.gateway
  const delegated = existing(({ output }) => output.type === 5 && output.endEpoch === 0)
  const outputs = delegated.flatMap(({ states }) => states.at(-1)?.output ?? [])
  const sum = outputs.reduce((all, one) => all + (one.type === 5 ? one.delegatedAmount : 0n), 0n)
  const { data } =
    await ask(`{ validators { nodes { accountId delegationStake isCandidate isInCommittee
    delegations(first: 1000) { nodes { chainId } } } }
    epoch(index: 1) { isOver firstSlot lastSlot committee { targetReward members { accountId poolReward } } } }`)
  const [validator, ...others] = data.validators.nodes
  expect(others).toEqual([])
  expect(validator).toMatchObject({ delegationStake: `${sum}`, isInCommittee: true })
  const all = existing(({ output }) => output.type === 5)
  expect(validator.delegations.nodes).toEqual(idsOf(all).toReversed())
  const { validators } = await restJson(`${url}/api/core/v3/validators`)
  expect(validator.isCandidate).toBe(validators.length === 1)
  const { committee, ...rest } = data.epoch
  expect(rest).toEqual({ isOver: true, firstSlot: 64, lastSlot: 127 })
  expect(committee.members).toMatchObject([{ accountId: validator.accountId }])
  expect(BigInt(committee.members[0].poolReward)).toBeLessThanOrEqual(
    BigInt(committee.targetReward),
  )
  expect(BigInt(committee.targetReward)).toBeGreaterThan(0n)
})

describe('the fields of', () => {
  test('an anchor: controller, governor and chain record', async () => {
    for (const { id, states } of chains.filter(({ type }) => type === 2)) {
      const output = states.at(-1)?.output
      if (output?.type !== 2) throw new Error('no anchor')
      const { data } = await ask(
        `query ($id: AnchorId!) { anchor(id: $id) { stateIndex stateController { bech32 }
          governor { bech32 } chainRecord { chainId } address { bech32 } } }`,
        { id },
      )
      const [controller, governor] = output.unlockConditions
      expect(data.anchor).toEqual({
        stateIndex: output.stateIndex,
        stateController: { bech32: text(addressKey(present(controller, 'a controller').address)) },
        governor: { bech32: text(addressKey(present(governor, 'a governor').address)) },
        chainRecord: null,
        address: { bech32: text(`0x18${id.slice(2)}`) },
      })
    }
    const [{ id } = { id: '0x' }] = chains.filter(({ type }) => type === 2)
    const { url } = world.gateway
    const authorization = `Bearer ${await world.gateway.token('chain-record:write')}`
    const chainId = text(`0x18${id.slice(2)}`)
    const set = `mutation { setChainRecord(chainId: "${chainId}",
      record: { accessNodes: ["a"], isActive: true }) { version } }`
    await graphql(url, set, {}, { authorization })
    const query =
      'query ($id: AnchorId!) { anchor(id: $id) { chainRecord { chainId accessNodes } } }'
    expect((await ask(query, { id })).data.anchor.chainRecord).toEqual({
      chainId,
      accessNodes: ['a'],
    })
  })

  test('a delegation: validator, epochs and reward', async () => {
    for (const { id, states } of chains.filter(({ type }) => type === 5)) {
      const last = present(states.at(-1), 'a state')
      const { output } = last
      if (output.type !== 5) throw new Error('no delegation')
      const { data, errors } = await ask(
        `query ($id: DelegationId!) { delegation(id: $id) { validatorId validatorAccount { accountId staking { stakedAmount } }
          delegatedAmount startEpoch endEpoch reward { mana startEpoch endEpoch } } }`,
        { id },
      )
      expect(errors).toBeUndefined()
      const { accountId } = output.validatorAddress
      const { reward, ...rest } = data.delegation
      expect(rest).toEqual({
        validatorId: accountId,
        validatorAccount: { accountId, staking: { stakedAmount: '100000000' } },
        delegatedAmount: `${output.delegatedAmount}`,
        startEpoch: output.startEpoch,
        endEpoch: output.endEpoch === 0 ? null : output.endEpoch,
      })
      const claim = `${world.gateway.url}/api/core/v3/rewards/${last.outputId}`
      const claimed = last.spentSlot === undefined ? await restJson(claim) : undefined
      expect(reward).toEqual(
        claimed === undefined
          ? null
          : { mana: claimed.rewards, startEpoch: claimed.startEpoch, endEpoch: claimed.endEpoch },
      )
    }
  })

  test('an NFT and an account: owner, issuer and immutable features', async () => {
    for (const { id, states } of chains.filter(({ type }) => type === 4)) {
      const last = present(states.at(-1), 'a state')
      const { data } = await ask(
        `query ($id: NftId!) { nft(id: $id) { owner { bech32 } issuer { bech32 }
          immutableMetadata { entries { key } } address { bech32 } } }`,
        { id },
      )
      const [issuer] = issuerIn(last)
      expect(data.nft).toEqual({
        owner: { bech32: text(present(ownerOf(last), 'an owner')) },
        issuer: issuer === undefined ? null : { bech32: text(issuer) },
        immutableMetadata: { entries: [{ key: 'irc27' }] },
        address: { bech32: text(`0x10${id.slice(2)}`) },
      })
    }
    for (const { id, states } of chains.filter(({ type }) => type === 1)) {
      const output = states.at(-1)?.output
      const { data } = await ask(
        'query ($id: AccountId!) { account(id: $id) { foundryCounter blockIssuer { expirySlot } staking { fixedCost } } }',
        { id },
      )
      const features = output?.type === 1 ? output.features : []
      const [expirySlot] = features.flatMap((one) => (one.type === 6 ? [one.expirySlot] : []))
      expect(data.account).toEqual({
        foundryCounter: output?.type === 1 ? output.foundryCounter : 0,
        blockIssuer: expirySlot === undefined ? null : { expirySlot },
        staking: null,
      })
    }
  })

  test('a block: issuer', async () => {
    const state = present(chains[0]?.states[0], 'a state')
    const { data } = await ask(`query ($id: TransactionId!) { transaction(id: $id) { blockId } }`, {
      id: transactionOf(state.outputId),
    })
    const { blockId } = data.transaction
    const query =
      'query ($id: BlockId!) { block(id: $id) { issuerId issuer { accountId entry { credits } } } }'
    const { data: found } = await ask(query, { id: blockId })
    expect(found.block.issuer).toEqual({
      accountId: found.block.issuerId,
      entry: { credits: expect.any(String) },
    })
  })
})

test('a search finds chains of every kind by their ids and prefixes of them, also when they are destroyed', async () => {
  const names = { 1: 'Account', 2: 'Anchor', 3: 'Token', 4: 'Nft', 5: 'Delegation' } as const
  for (const { id, type } of chains.filter((_, i) => i % 4 === 0)) {
    for (const [digits, match] of [
      [id.length, 'CHAIN_ID'],
      [20, 'ID_BEGINNING'],
    ] as const) {
      const { data } = await ask(
        `query ($text: String!) { search(text: $text) { hits { match thing { __typename ... on Chain { chainId } } } } }`,
        { text: id.slice(0, digits) },
      )
      const hits = data.search.hits.filter((hit: { match: string }) => hit.match === match)
      // Tokens of one account have the same prefix.
      expect(hits).toContainEqual({ match, thing: { __typename: names[type], chainId: id } })
    }
  }
})

test('chains of every kind are found by their global ids', async () => {
  const some = [1, 2, 3, 4, 5].map((type) =>
    present(
      chains.find((chain) => chain.type === type),
      'a chain',
    ),
  )
  const names = ['Account', 'Anchor', 'Token', 'Nft', 'Delegation']
  const expected = some.map(({ id }, n) => ({ __typename: names[n], chainId: id }))
  const ids = some.map(({ id }, n) => encodeNodeId(present(names[n], 'a name'), id))
  const query = 'query ($ids: [ID!]!) { nodes(ids: $ids) { __typename ... on Chain { chainId } } }'
  const { data } = await ask(query, { ids })
  expect(data.nodes).toEqual(expected)
  // An id with the name of another kind is not found.
  const others = some.map(({ id }, n) => encodeNodeId(n === 1 ? 'Nft' : 'Anchor', id))
  const { data: none } = await ask(query, { ids: others.filter((_, n) => n !== 2) })
  expect(none.nodes).toEqual([null, null, null, null])
})

test('a gateway that follows another one has the same chains with the same states', async () => {
  const env = { LEDGER: 'upstream', UPSTREAM_URLS: world.gateway.url }
  const follower = await startGateway({ env })
  await untilCommitted(follower.url, slot, 120_000)
  for (const some of [chains.slice(0, 80), chains.slice(80, 160)]) {
    const fields = some.map(
      ({ id, type }, n) => `c${n}: ${roots[type]}(id: "${id}") { chainId isDestroyed destroyedSlot
        destroyedBy output { outputId } history(first: 50) { nodes { outputId milestoneIndex } } }`,
    )
    const document = `{ ${fields.join(' ')} }`
    const [own, followed] = await Promise.all(
      [world.gateway.url, follower.url].map((url) => graphql(url, document)),
    )
    expect(own?.errors).toBeUndefined()
    expect(followed).toEqual(own)
  }
  await follower.close()
}, 180_000)

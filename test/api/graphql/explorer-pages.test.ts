import { readFileSync } from 'node:fs'
import { parse } from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operationCost } from '../../../src/api/graphql/execution/cost.ts'
import { maxOperationCost } from '../../../src/api/graphql/execution/prices.ts'
import { schema } from '../../../src/api/graphql/schema.ts'
import { checkUnspent } from '../../../src/explorer/parts/outputs/unspent-proof.ts'
import { hexToBytes } from '../../../src/lib/hex.ts'
import { encodeBech32 } from '../../../src/protocol/bech32.ts'
import { addressKey, transactionOf } from '../../../src/protocol/ids.ts'
import { askBothWays } from '../../support/both-ways.ts'
import { type ChainWorld, startChainWorld } from '../../support/chain-world.ts'
import { graphql } from '../../support/client.ts'
import { pages, textOf, variablesIn } from '../../support/explorer-pages.ts'
import { createSettableClock } from '../../support/settable-clock.ts'
import { startGateway, type TestGateway } from '../../support/start-gateway.ts'
import { issuer, untilCommitted } from '../../support/wallet.ts'

/** The documents of `docs/examples/explorer`: each requests one page of an explorer. */

let started: ChainWorld
const root = new URL('../../../', import.meta.url)
let variables: Awaited<ReturnType<typeof variablesIn>>

beforeAll(async () => {
  started = await startChainWorld({ players: 50, rounds: 9 })
  variables = await variablesIn(started)
}, 240_000)
afterAll(() => started.world.close())

type Page = Exclude<keyof typeof variables, 'slot'>

async function page(name: Page) {
  const { data, errors } = await askBothWays(
    started.world.gateway.url,
    textOf(name),
    variables[name],
  )
  expect(errors).toBeUndefined()
  return data
}

test.each(pages)('%s has the cost that docs/graphql.md names, below the limit', (name) => {
  const cost = operationCost({
    schema,
    document: parse(textOf(name)),
    variableValues: variables[name as Page],
  })
  expect(cost).toBeLessThan(maxOperationCost)
  const graphqlDocs = readFileSync(new URL('docs/graphql.md', root), 'utf8')
  expect(graphqlDocs).toContain(`| [${name}](examples/explorer/${name}.graphql) | ${cost} |`)
})

/** The fields that nodes do not offer, on the pages of a gateway that follows this one. */
const notOffered: { readonly [name in Page]?: readonly string[] } = {
  home: ['milestones.nodes.transactionCount', 'transactions'],
  milestone: ['blockCount', 'transactionCount', 'blocks', 'transactions'].map(
    (field) => `milestone.${field}`,
  ),
  milestones: ['milestones.nodes.blockCount', 'milestones.nodes.transactionCount'],
  blocks: ['blocks'],
  transactions: ['transactions'],
  block: ['block.children'],
  transaction: ['transaction.carriers'],
  account: ['account.entry', 'account.blocks'],
  accounts: ['accounts.nodes.entry'],
  validators: ['blocks'],
}

/** Fields that depend on the process, and fields that are null in upstream mode by their description. */
const different = [
  ...['current.slot', 'current.end', 'lagSeconds', 'blocksPerSecond', 'mode'].map(
    (member) => `status.${member}`,
  ),
  'activity.transactionsFailed',
  'health.following',
  'limits.value',
  // The following gateway knows the transactions that it has requested from the node, and simulates others again.
  ...['outcome', 'refusal'].map((member) => `inspect.transaction.verdict.${member}`),
  'inspect.refusal',
]

describe('a gateway that follows this one', () => {
  let follower: TestGateway
  beforeAll(async () => {
    const { gateway } = started.world
    // Its clock shows the time of the other gateway.
    const { data } = await graphql(gateway.url, '{ status { current { end } } }')
    const clock = createSettableClock(BigInt(Date.parse(data.status.current.end)) * 1_000_000n)
    const env = { LEDGER: 'upstream', UPSTREAM_URLS: gateway.url }
    follower = await startGateway({ clock, env })
    await untilCommitted(follower.url, started.slot, 120_000)
  }, 130_000)
  afterAll(() => follower.close())

  test('does not know the roots of a commitment', async () => {
    const text = `query ($id: OutputId!) { output(id: $id) { unspentProof { roots } } }`
    const { data, errors } = await askBothWays(follower.url, text, variables.output)
    expect(data.output).toEqual({ unspentProof: null })
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['NOT_OFFERED_BY_NODES'])
  })

  test.each(pages)(
    'returns the same for %s, with null and an error for what nodes do not offer',
    async (name) => {
      const parameters = [textOf(name), variables[name as Page]] as const
      const own = await graphql(started.world.gateway.url, ...parameters)
      const followed = await askBothWays(follower.url, ...parameters)
      const reasons = new Map(
        followed.errors?.map(({ path = [], extensions }) => [path.join('.'), extensions.code]),
      )
      expect(new Set(reasons.values())).toEqual(
        new Set(notOffered[name as Page] && ['NOT_OFFERED_BY_NODES']),
      )
      expect(new Set([...reasons.keys()].map(fieldOf))).toEqual(new Set(notOffered[name as Page]))
      const others = pathsOfDifferences(own.data, followed.data).filter(
        (path) => !reasons.has(path),
      )
      expect(others.map(fieldOf).filter((field) => !different.includes(field))).toEqual([])
    },
  )
})

/** Returns the path without the indices of lists. */
function fieldOf(path: string): string {
  return path.replaceAll(/\.[0-9]+(?=\.)/g, '')
}

type Json = Readonly<Record<string, unknown>>
const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null

function pathsOfDifferences(one: unknown, other: unknown, path: readonly string[] = []): string[] {
  if (!isJson(one) || !isJson(other)) return one === other ? [] : [path.join('.')]
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...names].flatMap((name) => pathsOfDifferences(one[name], other[name], [...path, name]))
}

test('every unspent output is proven by the newest commitment, and a spent one has no proof', async () => {
  const ask = (filter: string) =>
    askBothWays(
      started.world.gateway.url,
      `{ newest: milestones(first: 1) { nodes { commitmentId } }
        outputs(first: 400, filter: { isSpent: ${filter} }) { nodes { outputId
          unspentProof { commitmentId commitment roots beside } } } }`,
    )
  const { data, errors } = await ask('false')
  expect(errors).toBeUndefined()
  const { nodes } = data.outputs
  // So many outputs that the trie has pages below pages.
  expect(nodes.length).toBeGreaterThan(100)
  for (const { outputId, unspentProof } of nodes) {
    const check = checkUnspent(outputId, unspentProof)
    expect(check.verdict, outputId).toBe('COMMITTED')
    expect(check.commitmentId).toBe(data.newest.nodes[0].commitmentId)
  }
  const spent = (await ask('true')).data.outputs.nodes
  expect(spent.length).toBeGreaterThan(0)
  expect(spent.every(({ unspentProof }: { unspentProof: unknown }) => unspentProof === null)).toBe(
    true,
  )
})

describe('in one request', () => {
  test('home has the state of the ledger and the newest milestones and transactions', async () => {
    const { status, activity, milestones, transactions } = await page('home')
    expect(status).toMatchObject({ committed: { slot: variables.slot } })
    expect(activity.length).toBeGreaterThan(0)
    expect(milestones.nodes[0].index).toBe(variables.slot)
    expect(transactions.nodes[0].changes.length).toBeGreaterThan(0)
  })

  test('a milestone has its blocks, transactions and updates', async () => {
    const { milestone } = await page('milestone')
    expect(milestone.previous.index).toBe(milestone.index - 1)
    expect(milestone.next.index).toBe(milestone.index + 1)
    expect(milestone.transactions.nodes.length).toBe(Math.min(20, milestone.transactionCount))
    expect(milestone.blocks.nodes.length).toBe(Math.min(20, milestone.blockCount))
    expect(milestone.updates.nodes.length).toBe(Math.min(20, Number(milestone.updateCount)))
  })

  test('a block leads to its transaction, its milestone and its parents', async () => {
    const { block } = await page('block')
    const { transactionId } = block.transaction
    expect(transactionId).toBe(variables.transaction.id)
    expect(block.milestone.index).toBe(block.slot)
    expect(block.parents.length).toBeGreaterThan(0)
    expect(block.issuer.accountId).toBe(block.issuerId)
    expect(block.fields).toContainEqual({
      ...{ path: 'header.networkId', type: 'UInt64', offset: 1, length: 8 },
      about: 'first 8 bytes of the hash of the network name',
      value: block.content.header.networkId,
    })
  })

  test('a transaction has its inputs, its outputs and its changes', async () => {
    const { transaction } = await page('transaction')
    const created = started.world.outputs.filter(
      ({ outputId }) => transactionOf(outputId) === transaction.transactionId,
    )
    expect(
      transaction.outputs.map(({ outputId }: { outputId: string }) => outputId).sort(),
    ).toEqual(created.map(({ outputId }) => outputId).sort())
    const sum = (side: 'inputs' | 'outputs') =>
      transaction[side].reduce(
        (all: bigint, one: { amount: string }) => all + BigInt(one.amount),
        0n,
      )
    expect(sum('inputs')).toBe(sum('outputs'))
    expect(transaction.fields[0]).toMatchObject({ path: '', offset: 0 })
    expect(2 + 2 * transaction.fields[0].length).toBe(transaction.bytes.length)
    const { passedRules, mana } = transaction.examination
    expect(passedRules).toHaveLength(11)
    expect(mana.byInput).toHaveLength(transaction.inputs.length)
    expect(BigInt(mana.inputs)).toBeGreaterThanOrEqual(BigInt(mana.outputs))
  })

  test('every accepted transaction passes all rules when it is examined later', async () => {
    const { data, errors } = await graphql(
      started.world.gateway.url,
      `{ transactions(first: 200) { nodes { transactionId examination { passedRules brokenRule mana { inputs outputs } } } } }`,
    )
    expect(errors).toBeUndefined()
    const { nodes } = data.transactions
    expect(nodes.length).toBeGreaterThan(100)
    for (const { examination, transactionId } of nodes) {
      expect(examination?.passedRules.length, transactionId).toBe(11)
      expect(examination.brokenRule).toBeNull()
    }
  })

  test('an address has its balance, its chains and its history', async () => {
    const { address } = await page('address')
    expect(address.bech32).toBe(variables.address.address)
    expect(address.updates.nodes.length).toBe(Math.min(20, Number(address.updates.totalCount)))
    const unspent = address.unspentOutputs.nodes as readonly { readonly amount: string }[]
    if (unspent.length < 10) {
      const sum = unspent.reduce((all, { amount }) => all + BigInt(amount), 0n)
      expect(sum).toBe(BigInt(address.balance.total))
    }
  })

  test('an account has its entry, its address, its blocks and its states', async () => {
    const { account } = await page('account')
    const key = addressKey({ type: 8, accountId: issuer.accountId })
    expect(account.address.bech32).toBe(encodeBech32('tst', hexToBytes(key)))
    expect(account.entry.keyHashes.length).toBe(1)
    expect(account.history.nodes.length).toBe(Number(account.history.totalCount))
  })

  test('an NFT and a token have their history, a token its holders', async () => {
    const { nft } = await page('nft')
    expect(nft).toMatchObject({ nftId: variables.nft.id, isDestroyed: false })
    const states = started.chains.find(({ id }) => id === nft.nftId)?.states
    expect(nft.history.totalCount).toBe(`${states?.length}`)
    const { token } = await page('token')
    expect(BigInt(token.circulatingSupply)).toBe(
      BigInt(token.mintedTokens) - BigInt(token.meltedTokens),
    )
    const shares = token.holders.nodes as readonly { readonly amount: string }[]
    expect(shares.every(({ amount }) => BigInt(amount) > 0n)).toBe(true)
  })

  test('validators have their committee, and a search has the object that a text names', async () => {
    const { epoch, validators } = await page('validators')
    expect(validators.nodes.length).toBeGreaterThan(0)
    expect(epoch.committee.members.length).toBeGreaterThan(0)
    const { search } = await page('search')
    expect(search.hits).toContainEqual({
      thing: { __typename: 'Nft', chainId: variables.nft.id },
    })
  })
})

test('the next committee exists from its selection on, before its epoch begins', async () => {
  const { gateway } = started.world
  const members = 'members { accountId poolStake validatorStake fixedCost }'
  const document = `{ former: epoch(index: 1) { nextCommittee { ${members} } }
    epoch { index isOver committee { ${members} } nextCommittee { ${members} } } }`
  const { data: early } = await askBothWays(gateway.url, document)
  expect(early.former.nextCommittee).toEqual(early.epoch.committee)
  expect(early.epoch).toMatchObject({ index: 2, isOver: false, nextCommittee: null })
  await started.world.pass(44)
  const { data: late } = await askBothWays(gateway.url, document)
  expect(late.epoch).toMatchObject({ index: 2, isOver: false })
  expect(late.epoch.nextCommittee.members.length).toBeGreaterThan(0)
})
